/**
 * Golden runs: a projection's recorded output in a file, without what differs between runs. `EVERTHREAD_WRITE_GOLDEN=1`
 * rewrites the files; a person must then review the changes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { RunEvent } from '../../src/projections/run/run-event.ts';

const FOLDER = join(import.meta.dirname, 'golden');

/**
 * The fields that the page compares, and severities; for `llm.stream` also its kind. Ids of executions are left out.
 */
export function toGolden(events: readonly RunEvent[]): readonly string[] {
  return events.map(({ sequence, type, payload, severity, summary, final, task_id: id }) =>
    [
      sequence ?? '-',
      type === 'llm.stream' ? `${type}:${payload.llm_event_type}` : type,
      ...(severity === 'info' ? [] : [severity]),
      ...(final ? ['final'] : []),
      (summary ?? '').replaceAll(id ?? '<none>', '<execution>'),
    ].join(' | '),
  );
}

export function expectGolden(name: string, events: readonly RunEvent[]): void {
  const path = join(FOLDER, `${name}.json`);
  const told = toGolden(events);
  if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(told, null, 2)}\n`);
  expect(told).toEqual(JSON.parse(readFileSync(path, 'utf8')));
}

/** Sequences count from 1 without a gap, and only the last event is final. */
export function expectWhole(events: readonly RunEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1));
  expect(events.map(({ final }) => final)).toEqual(events.map((_, n) => n === events.length - 1));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
