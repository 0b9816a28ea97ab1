/** Cursors of lists of threads: the place of the last thread of a page, as text. */
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadPlace } from '../store/thread/thread-record.ts';

export function toCursor({ id, createdAt, updatedAt }: ThreadPlace): string {
  return `${updatedAt}.${createdAt}.${id}`;
}

/** Throws `InvalidCursor`. */
export function readCursor(cursor: string): ThreadPlace {
  const { updated, created, id } =
    /^(?<updated>\d{1,16})\.(?<created>\d{1,16})\.(?<id>.{1,200})$/.exec(cursor)?.groups ?? {};
  if (id === undefined)
    throw new RuntimeError(
      'InvalidCursor',
      `${JSON.stringify(cursor)} is not a cursor of a list of threads: use the one that was returned with a page.`,
    );
  return { id, createdAt: Number(created), updatedAt: Number(updated) };
}
