/**
 * The stories of a demo's threads, compared with golden files: the sentences without what differs between runs, and
 * without waits for a free worker. `EVERTHREAD_WRITE_GOLDEN=1` rewrites the files; a person must then review them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { followForm } from '../../src/client/follow-run.ts';
import type { StoryRow } from '../../src/projections/story/story-row.ts';
import { openStore } from '../../src/store/open-store.ts';
import { collect } from '../projections/golden.ts';

/** Sentences by the name of the thread, else its agent. */
export async function readStories(folder: string): Promise<Record<string, string[]>> {
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, folder);
  try {
    const stories: Record<string, string[]> = {};
    for (const { id, name, agent } of await store.threads.list({})) {
      const rows = await collect(followForm(store, id, { as: 'story', follow: false }));
      stories[name ?? agent] = rows.flatMap(({ event }) => toGolden(event));
    }
    return stories;
  } finally {
    await store.close();
  }
}

export function expectGoldenStory(name: string, lines: readonly string[] | undefined): void {
  const path = join(import.meta.dirname, 'golden', `${name}.txt`);
  const text = `${lines?.join('\n')}\n`;
  if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, 'utf8'));
}

/** The sentences of a golden story. */
export function readGoldenStory(name: string): readonly string[] {
  return readFileSync(join(import.meta.dirname, 'golden', `${name}.txt`), 'utf8')
    .trimEnd()
    .split('\n');
}

/** Pieces of a text are as many as the model, and a kill, have made of it. */
function toGolden({ kind, line, data }: StoryRow): string[] {
  if (kind === 'text' || (kind === 'wait' && data.queuedMs !== undefined)) return [];
  const shown = line
    .replace(/\b(demo|researcher)-[0-9a-z]{8,}/g, '<thread>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/-[0-9a-f]{8}\.md/g, '-<id>.md')
    .replace(/ after [\d.]+ m?s\b/g, ' after <time>')
    .replace(/[\d,]+ tokens in, [\d,]+ out/g, '<tokens>')
    .replace(/ It waited .* for a free worker\./, '');
  return [`${kind.padEnd(10)}  ${shown}`];
}
