/** Rows of model calls by their ids, and the entries of a chain as they were when a call was made. */
import type { Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { selectRows } from '../transaction/rows.ts';
import type { ChainPart, Entry, RequestPart } from './request-chain.ts';

interface RequestRow {
  readonly chain: ChainPart | undefined;
  readonly request: RequestPart | undefined;
}

export interface RequestRows {
  read(id: string): Promise<RequestRow | undefined>;
  /** The entries of these runs, by their positions. A row before which nothing of them was added is not read. */
  entriesOf(id: string, runs: readonly number[]): Promise<Map<number, Entry>>;
}

/** Rows of a page. */
const PAGE = 200;

/** Reads pages of rows, the later ones first, and keeps them. */
export function openRows(db: Kysely<Tables>, threadId: string): RequestRows {
  const pages = new Map<string, RequestRow>();
  const readPage = async (id: string): Promise<void> => {
    const { step, attempt, call } = parseCallId(id) ?? { step: 0, attempt: 0, call: 0 };
    const rows = await selectRows(db, 'model_calls', { thread_id: threadId })
      .select(['step', 'attempt', 'call', 'chain', 'request'])
      .where((eb) =>
        eb.or([
          eb('step', '<', step),
          eb.and([eb('step', '=', step), eb('attempt', '<', attempt)]),
          eb.and([eb('step', '=', step), eb('attempt', '=', attempt), eb('call', '<=', call)]),
        ]),
      )
      .where('step', '<=', step)
      .orderBy('step', 'desc')
      .orderBy('attempt', 'desc')
      .orderBy('call', 'desc')
      .limit(PAGE)
      .execute();
    for (const row of rows)
      pages.set(idOfCall(row), {
        chain: parse<ChainPart>(row.chain),
        request: parse<RequestPart>(row.request),
      });
  };
  const read = async (id: string) => {
    if (!pages.has(id)) await readPage(id);
    return pages.get(id);
  };
  return {
    read,
    async entriesOf(id, runs) {
      const wanted = new Set(positionsOf(runs));
      const entries = new Map<number, Entry>();
      for (let at: string | undefined = id; at !== undefined && wanted.size > 0; ) {
        const chain: ChainPart | undefined = (await read(at))?.chain;
        for (const entry of chain?.add ?? []) if (wanted.delete(entry[0])) entries.set(entry[0], entry);
        at = chain?.base;
      }
      return entries;
    },
  };
}

export function positionsOf(runs: readonly number[]): number[] {
  const positions: number[] = [];
  for (let at = 0; at < runs.length; at += 2)
    for (let position = runs[at] ?? 0; position < (runs[at + 1] ?? 0); position += 1)
      positions.push(position);
  return positions;
}

/** A call of a step: attempt at the step, and number within that attempt. */
export interface CallPlace {
  readonly step: number;
  readonly attempt: number;
  readonly call: number;
}

export function idOfCall({ step, attempt, call }: CallPlace): string {
  return `${step}.${attempt}.${call}`;
}

/** Undefined if the text is no id of a call. */
export function parseCallId(id: string): CallPlace | undefined {
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(id);
  if (!match) return undefined;
  const [step = 0, attempt = 0, call = 0] = match.slice(1).map(Number);
  return { step, attempt, call };
}

/** The value of a column. */
export const parse = <T>(text: string | null): T | undefined =>
  text === null ? undefined : JSON.parse(text);
