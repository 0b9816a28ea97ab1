/** Writes docs/generated/events.md, the list of all events of a thread, from src/core/event/event-data.ts. `npm run events`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCE = join(ROOT, 'src', 'core', 'event', 'event-data.ts');
/** Files of shapes that events contain but that are defined elsewhere. */
const BORROWED = [
  'event/event-shape.ts',
  'thread/step.ts',
  'thread/forked.ts',
  'thread/superseded.ts',
  'context/context-manifest.ts',
].map((path) => join(ROOT, 'src', 'core', path));
export const TARGET = join(ROOT, 'docs', 'generated', 'events.md');

const HEAD = `# Events of a thread

Every thread has a log: rows in the order in which things happened, each with a number (\`seq\`), a time (microseconds since 1970), its
kind, its data, and the step and the attempt that it belongs to. \`client.events()\`, \`everthread threads tail --json\` and \`threads export\`
read it. Content is not in it but for the text that a model streams: messages, files and values are where the rows point.

Rows stay as long as their thread, except those of \`model.chunk\`. Readers pass over kinds that they do not know; a kind never changes its name.
This page is made of \`src/core/event/event-data.ts\`.

| kind | when | data |
| --- | --- | --- |
`;

/** Returns the page as text. */
export function renderEvents() {
  const source = readFileSync(SOURCE, 'utf8');
  const start = source.indexOf('export interface EventData {');
  const body = source.slice(start, source.indexOf('\n}\n', start) + 1);
  const borrowed = BORROWED.flatMap((path) => readShapes(readFileSync(path, 'utf8')));
  const shapes = new Map([...borrowed, ...readShapes(source)]);
  const rows = [...body.matchAll(KIND)].map(
    ([, when, kind, type]) =>
      `| \`${kind}\` | ${when} | ${readFields(type, shapes).map(toCell).join(', ')} |`,
  );
  return `${HEAD}${rows.join('\n')}\n`;
}

const KIND = /^ {2}\/\*\* (.+?) \*\/\n {2}'?([a-z0-9_.]+)'?: ([\s\S]*?);\n(?= {2}\/\*\*|\n|$(?![\s\S]))/gm;

/** Maps each interface to the text of its fields. */
function readShapes(source) {
  return [...source.matchAll(/^(?:export )?interface (\w+) \{\n([\s\S]*?)\n\}/gm)].map(([, name, fields]) => [
    name,
    fields,
  ]);
}

/** Returns the fields of a type: types of the form `{ … }` and names of shapes, joined with `&`. */
function readFields(type, shapes) {
  return type.split(' & ').flatMap((part) => {
    const [, wrapped] = /^Partial<(\w+)>$/.exec(part.trim()) ?? [];
    const text =
      shapes.get(wrapped ?? part.trim()) ?? part.slice(part.indexOf('{') + 1, part.lastIndexOf('}'));
    const fields = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').split(';');
    return fields
      .map((field) => field.replaceAll(/\s+/g, ' ').replace('readonly ', '').trim())
      .filter(Boolean)
      .map((field) => (wrapped && !field.includes('?:') ? field.replace(':', '?:') : field));
  });
}

function toCell(field) {
  return `\`${field.replaceAll('|', '\\|')}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TARGET, renderEvents());
