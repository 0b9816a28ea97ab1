/**
 * The id that a sender may give to the execution that its item begins. Sending the item again attaches to that
 * execution, or returns its outcome.
 * E1. An item that names its execution, or the type of its answer, waits for rest and begins that execution alone. Later
 *     items from outside wait until it has begun; items that the thread's own code has queued come before it. Earlier
 *     messages of the conversation that a thread begins with are taken with it.
 */
import { RuntimeError } from '../value/error.ts';
import { LIMITS } from '../value/limit.ts';
import { sha256OfAscii } from '../value/sha256.ts';

const ID = /^[\x21-\x7e]+$/;

export function isExecutionId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LIMITS.executionIdChars && ID.test(value);
}

export interface TurnPlace {
  readonly projectId: string;
  readonly sessionId: string;
  /** Starts at 0. */
  readonly turnIndex: number;
}

/**
 * Returns the id of a turn: its parts joined by `:`, each encoded, so that no two turns share an id. The same turn
 * always has the same id. Throws `InvalidValue` if a part is missing or invalid, or if the id exceeds 200 characters.
 * @example
 * ```ts
 * const id = deriveExecutionId({ projectId: 'tax', sessionId: 'session-7', turnIndex: 0 }); // tax:session-7:0
 * ```
 */
export function deriveExecutionId({ projectId, sessionId, turnIndex }: TurnPlace): string {
  const parts = [projectId, sessionId].map((part) => (typeof part === 'string' ? part.trim() : ''));
  const isTurn = Number.isSafeInteger(turnIndex) && turnIndex >= 0;
  const isText = parts.every((part) => part !== '' && part.isWellFormed());
  const id = isTurn && isText ? [...parts.map(encodeURIComponent), turnIndex].join(':') : '';
  if (isExecutionId(id)) return id;
  throw new RuntimeError(
    'InvalidValue',
    `No execution id can be derived from the turn ${JSON.stringify({ projectId, sessionId, turnIndex }).slice(0, 300)}: it needs a project, a session and an index of 0 or more, together at most ${LIMITS.executionIdChars} characters.`,
  );
}

/** The id of an item that names its execution but has no id of its own: the same for every sender. */
export function itemIdOf(executionId: string): string {
  return `x-${sha256OfAscii(executionId).slice(0, 40)}`;
}

export interface DueItem {
  readonly own: number;
  readonly item: { readonly executionId?: string; readonly output?: unknown; readonly precedes?: true };
}

/** E1. Returns the items in line that a step may take, in order. `running`: an execution is open. */
export function selectDueItems<Row extends DueItem>(
  inLine: readonly Row[],
  running: boolean,
): readonly Row[] {
  const alone = inLine.findIndex(isAlone);
  if (alone === -1) return inLine;
  const from = inLine.findLastIndex((row, n) => n < alone && row.item.precedes !== true) + 1;
  const own = inLine.filter((row, n) => n > alone && row.own === 1 && !isAlone(row));
  const before = [...inLine.slice(0, from), ...own];
  return running || before.length > 0 ? before : inLine.slice(from, alone + 1);
}

const isAlone = ({ item }: DueItem): boolean => item.executionId !== undefined || item.output !== undefined;
