/** The ledger of rules and the tests that show them: read from the titles of the conformance and fault tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REQUIREMENTS } from './requirements.ts';

const { renderRules } = await import(new URL('../../scripts/write-rules.mjs', import.meta.url).href);

const TEST = join(import.meta.dirname, '..');
/** `[id] sentence`, as a title or in a table of titles. */
const TITLE = /(['"`])\[((?:runtime|definitions|threadstate)[^\]\n]*)\] (.*?)(?<!\\)\1/g;

export interface ShownRule {
  readonly id: string;
  readonly title: string;
  readonly file: string;
}

export function readTitles(): ShownRule[] {
  return ['conformance', 'core', 'contract', 'faults'].flatMap((folder) =>
    listTests(folder).flatMap((file) =>
      [...readFileSync(join(TEST, folder, file), 'utf8').matchAll(TITLE)].map(([, , id, title]) => ({
        id: id as string,
        title: (title as string).replaceAll('\\', ''),
        file: `test/${folder}/${file}`,
      })),
    ),
  );
}

function listTests(folder: string): string[] {
  return readdirSync(join(TEST, folder))
    .filter((file) => file.endsWith('.test.ts') || file.endsWith('-points.ts'))
    .sort();
}

export function renderLedger(): string {
  const titles = readTitles();
  const rows = REQUIREMENTS.map(({ id, level, text, waitsFor }) => {
    const shown = titles.filter((title) => title.id === id);
    const state =
      shown.length > 0 ? `${shown.length} ${shown.length === 1 ? 'test' : 'tests'}` : `waits for ${waitsFor}`;
    return `| ${id} | ${level} | ${text} | ${state} |`;
  });
  const details = REQUIREMENTS.flatMap(({ id }) => {
    const shown = titles.filter((title) => title.id === id);
    return shown.length === 0
      ? []
      : [`\n### ${id}\n`, ...shown.map(({ title, file }) => `- ${title} (\`${file}\`)`)];
  });
  return [
    '# Conformance',
    '',
    'Rules of the Standard Agents spec (0.1.0), in our own words, and the tests that show them: its runtime chapter, the',
    'surfaces of ThreadState, and of its definitions what a thread does with them.',
    "Made from the tests' titles by `npm run ledger`; a test fails when this page is out of date.",
    '',
    '| rule | level | what it asks | shown by |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...details,
    '',
    renderRules(),
  ].join('\n');
}
