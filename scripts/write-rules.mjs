/**
 * Lists the rules that the sources state in their headers (` * C1. The answer is sent only after …`) as the last section of
 * docs/generated/conformance.md. `npm run rules`; `npm run ledger` writes it too.
 * - A rule is a line of a file's first comment that begins with a letter and a number; its words are its first sentence.
 * - An id is unique in the tree, and cited with the name of its file.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['src', 'scripts'];
export const TARGET = join(ROOT, 'docs', 'generated', 'conformance.md');
const TITLE = '## Rules of the sources';
/** Characters above which a sentence is replaced by its first clause. */
const LONG = 110;

/** Returns `{ file, id, words }` of every rule, by file, in the order of the header. */
export function readRules() {
  return listSources().flatMap(({ file, text }) =>
    splitRules(headerOf(text)).map(({ id, words }) => ({ file, id, words })),
  );
}

/**
 * Returns `{ file, id, bare }` of every place in a comment that names a rule: `// C1: …`, `(C1)`, `(C1, C2)`. Bare:
 * without a word beside it.
 */
export function readUses() {
  return listSources().flatMap(({ file, text }) =>
    commentsOf(text.slice(headerOf(text).length)).flatMap((comment) =>
      [...comment.matchAll(USE)].flatMap(([, leading, listed]) =>
        (leading ?? listed).split(/, | and /).map((id) => ({ file, id, bare: BARE.test(comment) })),
      ),
    ),
  );
}

/** Returns the section as text. */
export function renderRules() {
  const rows = readRules().map(({ file, id, words }) => `| \`${file}\` | ${id} | ${words} |`);
  return [
    TITLE,
    '',
    'Rules that other files cite by their ids, which are unique in the tree. Written by `npm run rules`.',
    '',
    '| file | rule | in short |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** Returns the page with its section replaced, or added. */
export function withRules(page) {
  const start = page.indexOf(`\n${TITLE}\n`);
  return `${start === -1 ? page : page.slice(0, start)}\n${renderRules()}`;
}

const IDS = String.raw`[A-Z]\d{1,2}(?:(?:, | and )[A-Z]\d{1,2})*`;
const USE = new RegExp(String.raw`^(?:\/\/|\/\*\*|\*)\s+(${IDS})(?=[.:;]|\s*(?:\*\/)?$)|\((${IDS})\)`, 'gm');
const BARE = new RegExp(String.raw`^(?:\/\/|\/\*\*|\*)\s+${IDS}\.?\s*(?:\*\/)?$`);
const RULE = /^ \* ([A-Z]\d{1,2})(?:\.\s+|\s+)(\S.*)$/;

function listSources() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((file) => /\.(ts|mjs)$/.test(file))
      .toSorted()
      .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') })),
  );
}

/** Returns the comment that a file begins with, or an empty text. */
function headerOf(text) {
  return text.startsWith('/**') ? text.slice(0, text.indexOf('*/') + 2) : '';
}

function commentsOf(text) {
  const lines = text
    .split('\n')
    .flatMap((line) => /(?:^|\s)((?:\/\/|\/\*\*|\*) .*)$/.exec(line)?.slice(1) ?? []);
  return lines.map((line) => line.replaceAll(/`[^`]*`/g, '`…`'));
}

/** A rule ends where the next one, an empty line or a line at the margin begins. */
function splitRules(header) {
  const rules = [];
  let open = false;
  for (const line of header.split('\n')) {
    const [, id, text] = RULE.exec(line) ?? [];
    if (id) rules.push({ id, text });
    else if (open && /^ \* {3,}\S/.test(line)) rules.at(-1).text += ` ${line.slice(2).trim()}`;
    open = id !== undefined || (open && /^ \* {3,}\S/.test(line));
  }
  return rules.map(({ id, text }) => ({ id, words: inShort(text) }));
}

/** Returns the first sentence without its full stop; of a long one, the part before its colon. `|` would end a cell. */
function inShort(text) {
  const [sentence] = text.replace(/\.$/, '').split(/\.\s+(?=["`]?[A-Z`(])/, 1);
  const [clause] = sentence.split(/[:;]\s/, 1);
  const words = sentence.length > LONG && clause.split(' ').length >= 4 ? clause : sentence;
  return words.replace(/[:;]$/, '').replaceAll('|', '\\|');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(TARGET, withRules(readFileSync(TARGET, 'utf8')));
}
