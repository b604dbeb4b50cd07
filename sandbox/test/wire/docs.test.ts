// The tables of docs/sandbox.md are those of the code.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CHOICES, CONVENTIONS } from '../../src/wire/conventions.ts';
import { readWireSettings } from '../../src/wire/settings.ts';

const text = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
const variable = (setting: string): string =>
  `\`SANDBOX_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}\``;

it('name every convention with what each dialect does', () => {
  const rows = Object.values(CONVENTIONS).map(
    ({ where, rich, plain }) => `| ${where} | ${rich} | ${plain} |`,
  );
  expect(text).toContain(['| Where | `rich` | `plain` |', '|---|---|---|', ...rows].join('\n'));
});

it('name every choice with the setting that changes it', () => {
  const rows = CHOICES.map(
    ({ where, choice, setting }) =>
      `| ${where} | ${choice} | ${setting === undefined ? '' : variable(setting)} |`,
  );
  expect(text).toContain(['| Where | Both dialects | Setting |', '|---|---|---|', ...rows].join('\n'));
});

it('name every setting', () => {
  for (const setting of [...Object.keys(readWireSettings({})), 'errorText'])
    expect(text).toContain(variable(setting));
});
