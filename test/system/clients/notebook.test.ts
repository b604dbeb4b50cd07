// The notebook, whole by Jupyter, and its cells by a real python3: a table in the order of what was
// pasted, plots, folds and a ranking.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../subscriptions/support.ts';
import { launchBrowser, NO_BROWSER } from '../browser/chromium.ts';
import { openPlace, type Place } from './place.ts';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../../examples/notebook', import.meta.url));
const CLIENT = fileURLToPath(new URL('../../../clients/python/src', import.meta.url));
const isMissing = (command: string, ...words: string[]) =>
  spawnSync(command, words).status !== 0 && process.env.CI === undefined;
const missing = isMissing('python3', '--version');
const NO_JUPYTER = isMissing('jupyter', 'nbconvert', '--version');

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

/** Runs a program in the example's folder. */
const execute = (program: string, words: readonly string[], token: string, more = {}) =>
  run(program, words, {
    cwd: FOLDER,
    env: {
      ...process.env,
      FOLDATLAS_URL: place.url,
      FOLDATLAS_TOKEN: token,
      PYTHONPATH: CLIENT,
      PYTHONUTF8: '1',
      ...more,
    },
    timeout: 100_000,
  });
const python = (words: readonly string[], token = 'notebook') => execute('python3', ['-B', ...words], token);
const json = async (code: string, token?: string): Promise<unknown> => {
  const { stdout } = await python(
    ['-c', `import json\nfrom foldatlas import FoldAtlas\natlas = FoldAtlas()\n${code}`],
    token,
  );
  return JSON.parse(stdout);
};

/**
 * Runs the cells of the notebook in one namespace and prints what Jupyter would show of each last
 * expression.
 */
const RUN = `
import ast, base64, json, re
scope = {}
for cell in json.load(open("foldatlas.ipynb", encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), scope)
    value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
    html = value._repr_html_() if hasattr(value, "_repr_html_") else ""
    image = re.search('src=.data:image/svg.xml;base64,([A-Za-z0-9+/=]+)', html)
    if image:
        print("SVG", base64.b64decode(image[1]).decode("utf-8"))
    elif html and "<iframe" not in html:
        assert "<td>" in html
        print(value)
`;

describe.skipIf(missing)('the notebook example', () => {
  it('shows what was pasted as a table, plots, folds, waits and ranks', async () => {
    place.world.forget();
    const { stdout } = await python(['-c', RUN]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/is a sandbox: not predictions$/);
    expect(lines[1]).toMatch(
      /^requested +status +name +organism +length +mean_plddt +cluster_size +problem$/,
    );
    expect(lines.slice(2, 8).map((line) => line.split(/ +/).slice(0, 2))).toEqual([
      ['P01308', 'FOUND'],
      ['HBA_HUMAN', 'FOUND'],
      ['00000000000000000000000000000000', 'NOT_IN_ATLAS'],
      ['6077c452d1dc6151040b2b179e2294c7', 'FOUND'],
      ['P01308', 'FOUND'],
      ['insulin?', 'NOT_AN_IDENTIFIER'],
    ]);
    expect(lines[2]).toMatch(/^P01308 +FOUND +Insulin +Homo sapiens +110 +[\d.]+ +\d+ +–$/);
    expect(lines[4]).toMatch(/^0{32} +NOT_IN_ATLAS( +–){5} +\S.*\S$/);
    expect(lines[6]).toBe(lines[2]);
    expect(stdout).toMatch(/^4 of 4 done, 0 running$/m);
    const plots = lines.filter((line) => line.startsWith('SVG <svg '));
    expect(plots.map((plot) => /<title>(.*?)<\/title>/.exec(plot)?.[1])).toEqual([
      expect.stringMatching(/^Insulin, mean pLDDT \d/),
      'features',
      expect.stringMatching(/^PAE of with/),
    ]);
    // A bar for each residue, a line for each feature, a cell for each pair of tokens or more.
    const rects = plots.map((plot) => plot.split('<rect ').length - 1);
    expect(rects[0]).toBe(110);
    expect(rects[1]).toBeGreaterThan(8);
    expect(rects[2]).toBeGreaterThan(600);
    const ranked = lines.slice(-5, -1).map((line) => Number(/DONE +([\d.]+)/.exec(line)?.[1]));
    expect(ranked.toSorted((a, b) => b - a)).toEqual(ranked);
    expect(place.world.counts()).toMatchObject({ submit: 1 });
  });

  it.skipIf(NO_BROWSER || NO_JUPYTER)(
    'is a page of Jupyter whose structure turns without a network',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'foldatlas-notebook-'));
      const words = ['nbconvert', '--execute', '--to', 'html', '--output-dir', folder, 'foldatlas.ipynb'];
      const own = { IPYTHONDIR: folder, JUPYTER_RUNTIME_DIR: folder, PYTHONDONTWRITEBYTECODE: '1' };
      await execute('jupyter', words, 'jupyter', own);
      const browser = await launchBrowser();
      try {
        const page = await browser.newPage();
        const troubles: string[] = [];
        page.on('pageerror', (error) => troubles.push(String(error)));
        await page.goto(pathToFileURL(join(folder, 'foldatlas.html')).href);
        expect(await page.locator('td', { hasText: 'NOT_AN_IDENTIFIER' }).count()).toBe(1);
        expect(await page.locator('img[src^="data:image/svg+xml"]').count()).toBe(3);
        await page.locator('iframe').scrollIntoViewIfNeeded();
        const view = page.frameLocator('iframe');
        const said = view.locator('#said');
        await expect.poll(() => said.textContent()).toMatch(/^with/);
        const [structure, matrix] = [view.locator('#structure'), view.locator('#pae')];
        const before = await structure.screenshot();
        await matrix.hover({ position: { x: 370, y: 5 } });
        // The row of the first token of A, the column of a last one: the zinc, or a residue of B.
        await expect
          .poll(() => said.textContent())
          .toMatch(/^Aligned on A GLY1, (B [A-Z]{3}\d+|Z ZN1) may be \d+\.\d Å off\.$/);
        const marked = await structure.screenshot();
        expect(marked.equals(before)).toBe(false);
        await structure.hover({ position: { x: 190, y: 190 } });
        await page.mouse.down();
        await structure.hover({ position: { x: 250, y: 230 } });
        await page.mouse.up();
        expect((await structure.screenshot()).equals(marked)).toBe(false);
        // Somewhere on the way across the middle there is a residue.
        const names: (string | null)[] = [];
        for (let x = 100; x < 280; x += 4) {
          await structure.hover({ position: { x, y: 190 } });
          names.push(await said.textContent());
        }
        expect(names).toContainEqual(expect.stringMatching(/^[AB] [A-Z]{3}\d+, pLDDT \d+\.\d$/));
        expect(troubles).toEqual([]);
      } finally {
        await browser.close();
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('keeps names of files from becoming markup', async () => {
    const code = `
from foldatlas import notebook
line = "ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00 90.00           C"
view = notebook.structure({"structure": {"text": line}}, '</script><script>alert(1)</script>"')
print(json.dumps([view.text.count("<script"), view._repr_html_().count("<")]))`;
    // The data and the script of the page; the frame with its end.
    expect(await json(code)).toEqual([2, 2]);
  });

  it('draws the same structure from PDB and from mmCIF, and says where there is none', async () => {
    const code = `
from foldatlas import notebook
chains = [{"protein": {"sequence": "GIV"}}, {"rna": {"sequence": "ACGU"}}, {"ligand": {"ccd": ["ATP"]}}, {"ligand": {"smiles": "CCO"}}]
id = atlas.submit([{"chains": chains}])
list(atlas.watch(id))
task = atlas.tasks(id)[0]["taskId"]
pages = []
for form in ("PDB", "MMCIF"):
    asked = "query ($id: ID!) { task(taskId: $id) { result { chains { id tokenStart } structure(format: %s) { text } } } }" % form
    pages.append(notebook.structure(atlas.query(asked, id=task)["task"]["result"]).text)
try:
    notebook.structure(None)
except ValueError as error:
    print(json.dumps([pages[0] == pages[1], pages[0].count('"at"'), str(error)]))`;
    expect(await json(code)).toEqual([true, 41, expect.stringContaining('no result')]);
  });

  it('runs again without spending again', async () => {
    await python(['-c', RUN], 'twice');
    place.world.forget();
    const { stdout } = await python(['-c', RUN], 'twice');
    expect(stdout).toMatch(/^4 of 4 done, 0 running$/m);
    expect(place.world.counts()).not.toHaveProperty('submit');
  });

  const failOnce = (rule: Record<string, unknown>) => fault(place.world.sandboxUrl, { times: 1, ...rule });

  it('says which identifiers the service did not answer', async () => {
    await failOnce({ operation: 'uniprot', status: 403, body: { message: 'not now' } });
    const rows = await json(
      'print(json.dumps(atlas.lookup(["Q9Y6K9", "6077c452d1dc6151040b2b179e2294c7"])))',
    );
    expect(rows).toMatchObject([
      {
        requested: 'Q9Y6K9',
        status: 'UNAVAILABLE',
        hash: null,
        problem: expect.stringMatching(/^[A-Z_]+: not now/),
      },
      { status: 'FOUND', accession: 'P69905', problem: null },
    ]);
  });

  it('gives all other scores where one result is damaged', async () => {
    const items = ['GIV', 'GIVE', 'GIVEQ'].map((sequence) => ({ chains: [{ protein: { sequence } }] }));
    const done = `id = atlas.submit(${JSON.stringify(items)})\nlist(atlas.watch(id))`;
    await json(`${done}\nprint("null")`);
    await failOnce({
      operation: 'status',
      status: 200,
      body: { data: { status: 'done', response: { ptm: 81 } } },
    });
    const rows = await json(`${done}\nprint(json.dumps([[r["ptm"], r["problem"]] for r in atlas.rank(id)]))`);
    const scored = [expect.any(Number), null];
    expect((rows as unknown[][]).toSorted((a, b) => Number(a[1] !== null) - Number(b[1] !== null))).toEqual([
      scored,
      scored,
      [null, expect.stringContaining('$.ptm')],
    ]);
  });

  it('warns of paying twice where the outcome is unknown', async () => {
    await failOnce({ operation: 'submit', status: 500, body: { status: 'error', message: 'broken' } });
    const submit = 'atlas.submit([{"chains": [{"protein": {"sequence": "GIVEQCC"}}]}], key="unknown")';
    await expect(json(submit)).rejects.toThrow('only if neither is so');
  });
});
