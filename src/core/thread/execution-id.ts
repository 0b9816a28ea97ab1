/**
 * The id that a sender may give to the execution which its item begins: who sends it again attaches to that execution, or finds what came
 * of it.
 * E1. Such an item waits for rest and begins that execution alone. Items from outside that came later wait until it has begun; what the
 *     thread's own code has queued comes before.
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
  /** From 0. */
  readonly turnIndex: number;
}

/**
 * The id of a turn, the same wherever it is made: its parts with `:` between them, each encoded, so that no two turns share one. Throws
 * `InvalidValue` for what makes none, or one of more than 200 characters.
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
    `The turn ${JSON.stringify({ projectId, sessionId, turnIndex }).slice(0, 300)} makes no id: it has a project and a session, and an index from 0; together up to ${LIMITS.executionIdChars} characters.`,
  );
}

/** Of an item that names its execution and not itself: the same whoever sends it. */
export function itemIdOf(executionId: string): string {
  return `x-${sha256OfAscii(executionId).slice(0, 40)}`;
}

export interface DueItem {
  readonly own: number;
  readonly item: { readonly executionId?: string };
}

/** E1. What a step may take of what is in line, in order; `running`: an execution is open. */
export function admit<Row extends DueItem>(inLine: readonly Row[], running: boolean): readonly Row[] {
  const named = inLine.findIndex(({ item }) => item.executionId !== undefined);
  if (named === -1) return inLine;
  const own = inLine.filter((row, n) => n > named && row.own === 1 && row.item.executionId === undefined);
  const before = [...inLine.slice(0, named), ...own];
  return running || before.length > 0 ? before : inLine.slice(named, named + 1);
}
