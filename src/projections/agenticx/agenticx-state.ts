/** What the reading of a turn knows between two rows. Plain JSON, as small as its open calls. */
import type { Said } from '../row-message.ts';

export interface TurnBegin {
  /** As it is stamped on every event; a subagent's thread, else `meta`. */
  readonly agentId?: string;
  /** The turns are those of a subagent: it tells checkpoints. */
  readonly subagent?: boolean;
}

export interface OpenCall {
  readonly name: string;
  /** As the model wrote them. */
  readonly given: string;
  /** A person was asked and did not agree: its result is told as that, and not as an error, too. */
  readonly declined?: true;
}

export interface OpenTurn {
  readonly executionId: string;
  readonly round: number;
  readonly maxRounds: number | null;
  /** Distinct names in the order of their first call. */
  readonly tools: readonly string[];
  readonly artifacts: number;
  /** By the id of the call. */
  readonly calls: Readonly<Record<string, OpenCall>>;
  /** Arguments of calls that are to be told of, by the id of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The message before this row. */
  readonly said: Said | null;
  /** The last answer of the agent's own. */
  readonly answer: string;
  /** The waits that are open, by id: of which call each is. */
  readonly waits: Readonly<Record<string, string | null>>;
  readonly detector: string | null;
}

export interface TurnReading {
  readonly agentId: string;
  readonly subagent: boolean;
  readonly turn: OpenTurn | null;
}

export function beginTurns({ agentId = 'meta', subagent = false }: TurnBegin = {}): TurnReading {
  return { agentId, subagent, turn: null };
}

export function openTurn(executionId: string, maxRounds: number | null = null): OpenTurn {
  return {
    executionId,
    round: 0,
    maxRounds,
    tools: [],
    artifacts: 0,
    calls: {},
    arguments: {},
    said: null,
    answer: '',
    waits: {},
    detector: null,
  };
}
