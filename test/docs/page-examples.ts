/**
 * The TypeScript of the pages, as files of a project. A block that begins with a path (`// agents/tools/refund.ts`) is
 * that file; one without imports and exports can use `state` and `client`. Whatever else it needs is declared before
 * it, hidden on the page: `<!-- given: declare const prices: Map<string, number>; -->`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
export const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const BLOCK = /(?:<!-- given:([\s\S]*?)-->\s*)?^```ts\n([\s\S]*?)^```$/gm;
/** Matches the path that starts one of several files in a block; any text after the path is for the reader. */
const FILE = /^\/\/ ((?:agents|src)\/[\w[\]*./-]+\.ts)\b.*\n/gm;

const GIVEN = `import type { RuntimeClient, ThreadState } from 'everthread';
declare const state: ThreadState;
declare const client: RuntimeClient;
declare const threadId: string;
`;

/** The examples by path: in `docs-hooks.md/12/agents/hooks/polite.ts`, 12 is the line of the block. */
export function readExamples(): ReadonlyMap<string, string> {
  return new Map(PAGES.flatMap(readPage));
}

function readPage(page: string): [path: string, text: string][] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(BLOCK)].flatMap(({ index, 0: whole, 1: given = '', 2: code = '' }) => {
    const line = text.slice(0, index + whole.indexOf('```ts')).split('\n').length;
    return splitFiles(code).map(([file, source]): [string, string] => [
      `${page.replace('/', '-')}/${line}/${file}`,
      complete(source, given),
    ]);
  });
}

function splitFiles(code: string): [file: string, source: string][] {
  const starts = [...code.matchAll(FILE)];
  if (starts.length === 0) return [['example.ts', code]];
  return starts.map((start, index) => [
    start[1] as string,
    code.slice(start.index + start[0].length, starts[index + 1]?.index),
  ]);
}

function complete(source: string, given: string): string {
  if (/^(import|export) /m.test(source)) return given === '' ? source : `${given}\n${source}`;
  return `${GIVEN}${given}\n{\n${source}\n}\nexport {};\n`;
}
