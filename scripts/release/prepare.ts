// Copies the facts of a version to every file that states them. package.json is the one place to
// fill in: version, author, homepage, repository and bugs. `prepareRelease` copies them to the
// others.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const manifestSchema = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
  description: z.string(),
  author: z.object({ name: z.string().min(1), email: z.string().optional() }).optional(),
  homepage: z.url({ protocol: /^https$/ }).optional(),
  repository: z.object({ type: z.literal('git'), url: z.string().startsWith('git+https://') }).optional(),
  bugs: z.object({ url: z.url({ protocol: /^https$/ }) }).optional(),
});

export type Manifest = z.output<typeof manifestSchema>;
type Json = Record<string, unknown>;

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');
const objectSchema = z.record(z.string(), z.unknown());

/**
 * Reads what package.json says of the publisher. @throws ZodError where a field has another form
 */
export const readManifest = (root: string): Manifest =>
  manifestSchema.parse(JSON.parse(read(root, 'package.json')));

/** The fields of package.json that a publisher has not filled in. */
export const missingFields = (manifest: Manifest): string[] =>
  (['author', 'homepage', 'repository', 'bugs'] as const).filter((name) => manifest[name] === undefined);

/** https://host/owner/name of a repository. */
const webAddress = (url: string): string => url.replace(/^git\+/, '').replace(/\.git$/, '');

/** The name in the MCP registry, which belongs to the owner of the repository. */
export function registryName({ repository }: Manifest): string | undefined {
  const owner = /^https:\/\/github\.com\/([\w.-]+)\//.exec(webAddress(repository?.url ?? ''))?.[1];
  return owner && `io.github.${owner}/foldatlas`;
}

/** Replaces exactly one place. @throws Error where there is none, or more */
function replaceOnce(text: string, pattern: RegExp, value: string, file: string): string {
  const count = text.match(new RegExp(pattern, `${pattern.flags}g`))?.length ?? 0;
  if (count !== 1) throw new Error(`${file} has ${count} places like ${pattern.source}; it needs one.`);
  return text.replace(pattern, () => value);
}

/** Lines between two marks that only this script writes. */
const fillIn = (text: string, file: string, lines: readonly string[]): string =>
  replaceOnce(
    text,
    /# publisher, by npm run release\n[\s\S]*?# end of publisher\n/,
    `# publisher, by npm run release\n${lines.map((line) => `${line}\n`).join('')}# end of publisher\n`,
    file,
  );

/**
 * Writes version, publisher and date into every file of a checkout that says them, and saves the
 * schema. Run twice, it changes nothing.
 *
 * @param date - the day of the release, YYYY-MM-DD, where the changelog has none
 * @returns the files that changed
 */
export function prepareRelease(root: string, date: string): string[] {
  const manifest = readManifest(root);
  const { version, author, homepage, repository, bugs } = manifest;
  const web = repository && webAddress(repository.url);
  const mcpName = registryName(manifest);
  const changed: string[] = [];

  function edit(file: string, change: (text: string) => string): void {
    const before = existsSync(join(root, file)) ? read(root, file) : '';
    const after = change(before);
    if (after === before) return;
    writeFileSync(join(root, file), after);
    changed.push(file);
  }
  const editJson = (file: string, change: (content: Json) => Json): void =>
    edit(file, (text) => {
      const content = objectSchema.parse(JSON.parse(text));
      const next = change(structuredClone(content));
      return JSON.stringify(next) === JSON.stringify(content) ? text : `${JSON.stringify(next, null, 2)}\n`;
    });
  const filled = (values: Json): Json =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

  editJson('package.json', (content) => ({
    ...content,
    optionalDependencies: {
      ...objectSchema.parse(content.optionalDependencies),
      'foldatlas-sandbox': version,
    },
    ...filled({ mcpName }),
  }));
  editJson('sandbox/package.json', (content) => ({
    ...content,
    version,
    ...filled({ author, homepage, bugs, repository: repository && { ...repository, directory: 'sandbox' } }),
  }));
  editJson('package-lock.json', (content) => {
    const packages = z.record(z.string(), objectSchema).parse(content.packages);
    for (const place of ['', 'sandbox']) packages[place] = { ...packages[place], version };
    const own = packages[''] ?? {};
    own.optionalDependencies = {
      ...objectSchema.parse(own.optionalDependencies),
      'foldatlas-sandbox': version,
    };
    return { ...content, version, packages };
  });
  editJson('server.json', (content) => ({
    ...content,
    version,
    packages: z
      .array(objectSchema)
      .parse(content.packages)
      .map((entry) => ({ ...entry, version })),
    ...filled({
      name: mcpName,
      websiteUrl: homepage,
      repository: web && { url: web, source: 'github' },
    }),
  }));
  edit('clients/python/pyproject.toml', (text) =>
    fillIn(
      replaceOnce(text, /^version = ".*"$/m, `version = "${version}"`, 'pyproject.toml'),
      'pyproject.toml',
      [
        ...(author ? [`authors = [${pythonAuthor(author)}]`] : []),
        ...(homepage && bugs && web
          ? [
              '',
              '[project.urls]',
              `Homepage = "${homepage}"`,
              `Repository = "${web}"`,
              `Issues = "${bugs.url}"`,
            ]
          : []),
      ],
    ),
  );
  edit('clients/python/src/foldatlas/__init__.py', (text) =>
    replaceOnce(text, /^__version__ = ".*"$/m, `__version__ = "${version}"`, '__init__.py'),
  );
  edit('CHANGELOG.md', (text) =>
    text.replace(`## ${version} (not released yet)`, () => `## ${version} (${date})`),
  );
  const day = releaseDate(read(root, 'CHANGELOG.md'), version) ?? date;
  edit('CITATION.cff', (text) =>
    fillIn(text, 'CITATION.cff', [
      `version: ${version}`,
      `date-released: ${day}`,
      ...(author ? ['authors:', `  - name: ${JSON.stringify(author.name)}`] : []),
      ...(homepage ? [`url: ${homepage}`] : []),
      ...(web ? [`repository-code: ${web}`] : []),
    ]),
  );
  mkdirSync(join(root, 'releases'), { recursive: true });
  edit(`releases/${version}.graphql`, () => read(root, 'schema.graphql'));
  return changed;
}

const pythonAuthor = ({ name, email }: { name: string; email?: string | undefined }): string =>
  `{ name = ${JSON.stringify(name)}${email === undefined ? '' : `, email = ${JSON.stringify(email)}`} }`;

/** The day of a version by the changelog; undefined where it says none. */
const releaseDate = (changelog: string, version: string): string | undefined =>
  new RegExp(`^## ${version.replaceAll('.', '\\.')} \\((\\d{4}-\\d{2}-\\d{2})\\)$`, 'm').exec(changelog)?.[1];
