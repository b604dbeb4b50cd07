// The blocks of PowerShell in the guides. No PowerShell runs here: they are parsed, and read for
// what its two generations (Windows PowerShell 5.1 and PowerShell 7) do differently from a shell.
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { Language, type Node, Parser } from 'web-tree-sitter';
import { guides, readGuide } from '../../docs/guides.ts';

const require = createRequire(import.meta.url);
const blocks = [...guides, readGuide('clients/python/README.md')].flatMap(({ path, blocks: all }) =>
  all.filter(({ language }) => language === 'powershell').map(({ text }) => ({ path, text })),
);

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const child of node.children) if (child !== null) yield* walk(child);
}

it('has a PowerShell form in each guide that newcomers read', () => {
  const found = new Set(blocks.map(({ path }) => path));
  const newcomers = ['README.md', 'docs/clients.md', 'docs/agents.md', 'clients/python/README.md'];
  expect(newcomers.filter((path) => !found.has(path))).toEqual([]);
});

it.each(blocks)('$path parses, and does the same in both generations: $text', async ({ text }) => {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(
    await Language.load(require.resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')),
  );
  const tree = parser.parse(text);
  if (tree === null) throw new Error('nothing was parsed');
  const nodes = [...walk(tree.rootNode)];
  expect(nodes.filter((node) => node.isError || node.isMissing).map((node) => node.text)).toEqual([]);

  // Windows PowerShell has no && and ||, and an alias `curl` of its own.
  expect(text).not.toMatch(/&&|\|\|/);
  const commands = nodes.filter(({ type }) => type === 'command');
  const names = commands.map((command) => command.childForFieldName('command_name')?.text);
  expect(names.filter((name) => name === 'curl' || name === 'wget')).toEqual([]);

  // A double quote in an argument of a program outside PowerShell is lost or kept by generation.
  const programs = commands.filter((_, index) => !/^[A-Z][a-z]+-[A-Z]/.test(names[index] ?? ''));
  const quoted = programs
    .flatMap((command) => [...walk(command)])
    .filter(({ type, text: literal }) =>
      type === 'verbatim_string_characters' || type === 'expandable_string_literal'
        ? literal.slice(1, -1).includes('"')
        : false,
    );
  expect(quoted.map((node) => node.text)).toEqual([]);

  for (const { type, text: literal } of nodes)
    if (type === 'verbatim_string_characters' && /^'\{"/.test(literal))
      expect(() => void JSON.parse(literal.slice(1, -1))).not.toThrow();
});
