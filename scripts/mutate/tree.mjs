/**
 * A copy of the clone in which the source is changed. A mutation names no file: its text occurs once in all of `src`,
 * so the list survives moved code, and a mutation fails loudly if the code itself has changed.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '../set-up.mjs';

const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage', '.everthread']);

/** Returns the sources of a clone, by their paths in it. */
export function readSources(root = ROOT) {
  const src = join(root, 'src');
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return new Map(paths.sort().map((path) => [join('src', path), readFileSync(join(src, path), 'utf8')]));
}

/** Returns the changed files of a mutation, by path; throws if a text is missing or occurs twice. */
export function mutate(sources, { name, edits }) {
  const changed = new Map();
  for (const { find, put } of edits) {
    const path = locate(sources, name, find);
    const text = changed.get(path) ?? sources.get(path);
    const start = text.indexOf(find);
    if (start < 0) throw new Error(`"${name}": an edit has taken away the text of the next one: ${find}`);
    changed.set(path, text.slice(0, start) + put + text.slice(start + find.length));
  }
  return changed;
}

function locate(sources, name, find) {
  const places = [...sources].flatMap(([path, text]) => Array(text.split(find).length - 1).fill(path));
  if (places.length === 1) return places[0];
  const where =
    places.length === 0 ? 'is nowhere in src' : `is there ${places.length} times (${places.join(', ')})`;
  throw new Error(`"${name}": its text ${where}: ${find}`);
}

/** A copy of the clone, with its dependencies linked, and a folder for what tests write. */
export class Copy {
  #folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  root = join(this.#folder, 'tree');
  scratch = join(this.#folder, 'tmp');

  constructor() {
    try {
      this.#make();
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  #make() {
    const isCopied = (path) =>
      !relative(ROOT, path)
        .split(/[\\/]/)
        .some((part) => LEFT_OUT.has(part));
    cpSync(ROOT, this.root, { recursive: true, filter: isCopied });
    linkPackages(join(ROOT, 'node_modules'), join(this.root, 'node_modules'));
    mkdirSync(this.scratch);
  }

  write(files) {
    for (const [path, text] of files) writeFileSync(join(this.root, path), text);
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Links each package separately: Node's permission model refuses paths with a link in the middle. */
function linkPackages(from, to) {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.startsWith('@')) linkPackages(source, target);
    else if (entry.isFile()) copyFileSync(source, target);
    else symlinkSync(realpathSync(source), target, 'junction');
  }
}
