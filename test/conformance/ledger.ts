/** The ledger of rules and of the tests that show them, built from the titles of all tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageLine } from './page-line.ts';
import { PAGE_LINES } from './page-lines.ts';
import { AGENTICX_LINES } from './page-lines-agenticx.ts';
import { DEFINITIONS_LINES } from './page-lines-definitions.ts';
import { RUNTIME_LINES } from './page-lines-runtime.ts';
import { TANGLE_LINES } from './page-lines-tangle.ts';
import { THREAD_STATE_LINES } from './page-lines-thread-state.ts';
import { REQUIREMENTS } from './requirements.ts';

const { renderRules } = await import(new URL('../../scripts/write-rules.mjs', import.meta.url).href);

const ROOT = join(import.meta.dirname, '..', '..');
/** Matches `[id] sentence`, as a title or in a table of titles. */
const TITLE =
  /(?<before>[^\n]*?)(?<quote>['"`])\[(?<id>(?:(?:runtime|definitions|threadstate) |PL-|AX-|TG-)[^\]\n]*)\] (?<title>.*?)(?<!\\)\k<quote>/g;
/** Matches the start of a test that never runs. */
const NEVER_RUNS = /\b(?:skip|todo)(?:\.each\(.*\))?\($/;
/** Matches `describe('runtime §6.4 …')`, which names the section of its tests. */
const SECTION = /\bdescribe\(\s*(['"`])(runtime|definitions) §(.*?)(?<!\\)\1/g;

export interface ShownRule {
  readonly id: string;
  readonly title: string;
  readonly file: string;
}

export interface CitedSection {
  readonly id: string;
  readonly file: string;
}

/** The rules that the titles of all running tests cite. The sources below are all of `test`, read once. */
export function readTitles(): ShownRule[] {
  return SOURCES.flatMap(({ file, text }) =>
    [...text.matchAll(TITLE)].flatMap(({ groups = {} }) => {
      const { before = '', id = '', title = '' } = groups;
      return NEVER_RUNS.test(before) ? [] : [{ id, title: title.replaceAll('\\', ''), file }];
    }),
  );
}

/** The sections that groups of tests are named after: `runtime §13.4 …`, `definitions §19.4 …, §19.5 …`. */
export function readSections(): CitedSection[] {
  return SOURCES.flatMap(({ file, text }) =>
    [...text.matchAll(SECTION)].flatMap(([, , chapter, rest]) =>
      [...`§${rest}`.matchAll(/§(\d+(?:\.\d+)*)/g)].map(([, section]) => ({
        id: `${chapter} ${section}`,
        file,
      })),
    ),
  );
}

const SOURCES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => file.endsWith('.ts') && !/(^|\/)(ledger|page-lines?[\w-]*|requirements?[\w-]*)\.ts$/.test(file),
  )
  .map((file) => `test/${file.replaceAll('\\', '/')}`)
  .sort()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

const CHAPTERS = ['runtime', 'definitions', 'threadstate', 'PL', 'AX', 'TG'];
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

/** Orders ids by chapter and section; surfaces of ThreadState have no numbers and stay as they are listed. */
function compareIds(one: string, other: string): number {
  const [chapter = ''] = one.split(/[ -]/);
  const [otherChapter = ''] = other.split(/[ -]/);
  if (chapter !== otherChapter) return CHAPTERS.indexOf(chapter) - CHAPTERS.indexOf(otherChapter);
  return chapter === 'threadstate' ? 0 : BY_NUMBER.compare(one, other);
}

/** The texts of the spec whose choices the page lists. */
const CHOICES: readonly (readonly [heading: string, lines: readonly PageLine[]])[] = [
  ['The runtime chapter', RUNTIME_LINES],
  ['The page of ThreadState', THREAD_STATE_LINES],
  ['The definitions', DEFINITIONS_LINES],
];

export function renderLedger(): string {
  const titles = Map.groupBy(readTitles(), ({ id }) => id);
  const rules = REQUIREMENTS.toSorted((one, other) => compareIds(one.id, other.id));
  const rows = rules.map(({ id, level, text, waitsFor }) => {
    const shown = titles.get(id)?.length ?? 0;
    const state = shown > 0 ? `${shown} ${shown === 1 ? 'test' : 'tests'}` : `waits for ${waitsFor}`;
    return `| ${id} | ${level} | ${text} | ${state} |`;
  });
  const details = rules.flatMap(({ id }) => {
    const shown = titles.get(id) ?? [];
    return shown.length === 0
      ? []
      : [`\n### ${id}\n`, ...shown.map(({ title, file }) => `- ${title} (\`${file}\`)`)];
  });
  return [
    '# Conformance',
    '',
    'Rules of the Standard Agents spec (0.1.0), in our own words, and the tests that show them: its runtime chapter, its',
    'definitions, and the surfaces of ThreadState.',
    "Made from the tests' titles by `npm run ledger`; a test fails when this page is out of date.",
    '',
    '| rule | level | what it asks | shown by |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...details,
    '',
    '## Choices under the Standard Agents spec',
    '',
    'Where the three texts leave something open or contradict each other, the right column says how they are read here, and',
    'why. A deviation does something else than the text says. What is not listed is followed as it stands; the rules above',
    'show it. In brackets: the rules whose tests show the choice.',
    '',
    ...CHOICES.flatMap(([heading, lines]) => [
      `### ${heading}`,
      '',
      '| the text | here |',
      '| --- | --- |',
      ...lines.map(toRow),
      '',
    ]),
    "## Protolink's runtime page",
    '',
    'Each heading, row and block of code of the page, with the acceptance cases above that show it, or the intended deviation.',
    '[protolink.md](../protolink.md) maps the names.',
    '',
    '| the page | here |',
    '| --- | --- |',
    ...PAGE_LINES.map(toRow),
    '',
    "## AgenticX's runtime page",
    '',
    'The same for the page of its `AgentRuntime`. [guards.md](../guards.md) describes the guards around a model and its calls.',
    '',
    '| the page | here |',
    '| --- | --- |',
    ...AGENTICX_LINES.map(toRow),
    '',
    "## Tangle's agent-runtime page",
    '',
    'The same for the page of its agent-runtime. [tangle.md](../tangle.md) maps the names.',
    '',
    '| the page | here |',
    '| --- | --- |',
    ...TANGLE_LINES.map(toRow),
    '',
    renderRules(),
  ].join('\n');
}

const toRow = (line: PageLine): string => `| ${line.what} | ${stateOf(line)} |`;

function stateOf({ cases = [], deviation, reading }: PageLine): string {
  const shown = cases.join(', ');
  const choice = deviation === undefined ? reading : `deviation: ${deviation}`;
  if (choice === undefined) return shown;
  return shown === '' ? choice : `${choice} (${shown})`;
}
