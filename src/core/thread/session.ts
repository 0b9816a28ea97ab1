/**
 * A session of two AI sides (runtime §4, §6, definitions §12.3, §12.5): who acts next, and how many turns both have completed.
 * Pure. A thread of one AI side has no session.
 */

import type { Side } from '../author/thread-execution.ts';

export interface Session {
  /** Who acts next. */
  readonly side: Side;
  /** Completed turns of both sides since the session began. */
  readonly turns: number;
}

/** What a step has ended, as far as it concerns the session (stop.ts). */
export interface StepEnding {
  readonly ends: 'nothing' | 'turn' | 'execution' | 'session';
  /** True if the acting side has completed its turn. */
  readonly turn: boolean;
}

/** Steps of each side. */
export type SideSteps = Readonly<Record<Side, number>>;

export const NEW_SESSION: Session = { side: 'a', turns: 0 };
export const NO_STEPS: SideSteps = { a: 0, b: 0 };

export function otherSide(side: Side): Side {
  return side === 'a' ? 'b' : 'a';
}

/** The session after a step. A completed turn always counts; a session that has ended is followed by a new one. */
export function advanceSession({ turns }: Session, acted: Side, { ends, turn }: StepEnding): Session {
  if (ends === 'session') return NEW_SESSION;
  return turn ? { side: otherSide(acted), turns: turns + 1 } : { side: acted, turns };
}

/** A queued message speaks for one side and is answered by the other: `assistant` is side A, anything else side B. */
export function answeringSide(role: string): Side {
  return role === 'assistant' ? 'b' : 'a';
}

/** The role of messages from others, as a side receives them. */
export function roleTo(side: Side): 'assistant' | 'user' {
  return roleOf(otherSide(side));
}

/**
 * The side that answers a step's drained messages, given oldest first: the first that speaks for a side decides
 * (definitions §22.40).
 */
export function findAnswering(roles: readonly string[]): Side | undefined {
  const first = roles.find((role) => role !== 'system' && role !== 'tool');
  return first === undefined ? undefined : answeringSide(first);
}

/** The role under which a side's messages are stored (definitions §12.3). */
export function roleOf(side: Side): 'assistant' | 'user' {
  return side === 'a' ? 'assistant' : 'user';
}
