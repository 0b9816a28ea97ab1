/** Cursors of lists of threads: the place of the last thread of a page in every order, as text. */
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadPlace } from '../store/thread/thread-record.ts';

const CURSOR =
  /^(?<updated>\d{1,16})\.(?<created>\d{1,16})\.(?<cost>\d{1,13}(?:\.\d{1,12})?)_(?<tokens>\d{1,16})\.(?<since>\d{1,16})\.(?<id>.{1,200})$/;
/** Most decimals of an amount of US dollars (core/value/money.ts). */
const DECIMALS = 12;

export function toCursor({ id, createdAt, updatedAt, listed, waitingFor }: ThreadPlace): string {
  const { costUsd = 0, tokens = 0 } = listed ?? {};
  return `${updatedAt}.${createdAt}.${costUsd.toFixed(DECIMALS)}_${tokens}.${waitingFor?.since ?? 0}.${id}`;
}

/** Throws `InvalidCursor`. */
export function readCursor(cursor: string): ThreadPlace {
  const { updated, created, cost, tokens, since, id } = CURSOR.exec(cursor)?.groups ?? {};
  if (id === undefined)
    throw new RuntimeError(
      'InvalidCursor',
      `${JSON.stringify(cursor)} is not a cursor of a list of threads: use the one that was returned with a page.`,
    );
  return {
    id,
    createdAt: Number(created),
    updatedAt: Number(updated),
    listed: { costUsd: Number(cost), tokens: Number(tokens) },
    waitingFor: Number(since) > 0 ? { since: Number(since) } : null,
  };
}
