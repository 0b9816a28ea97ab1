/** State of the projection between two rows. Plain JSON, as small as its open calls. */
import type { RowMessage } from '../row-message.ts';

export interface TurnBegin {
  /** `agent_id` of every event: the thread's id for a subagent; `meta` unless given. */
  readonly agentId?: string;
  /** True if the turns are those of a subagent: checkpoints are emitted. */
  readonly subagent?: boolean;
}

export interface OpenCall {
  readonly name: string;
  /** The arguments, as the model wrote them. */
  readonly given: string;
  /** Set if a person was asked and did not agree: there is a result, but no `error` event. */
  readonly declined?: true;
}

export interface OpenTurn {
  readonly executionId: string;
  readonly round: number;
  readonly maxRounds: number | null;
  /** Distinct names of the tools, in the order of their first calls. */
  readonly tools: readonly string[];
  readonly artifacts: number;
  /** Open calls by id. */
  readonly calls: Readonly<Record<string, OpenCall>>;
  /** Arguments of calls that were not emitted yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
  /** Text of the agent's last answer; sub-prompts do not count. */
  readonly answer: string;
  /** Open waits by id, each with the id of its call, or null. */
  readonly waits: Readonly<Record<string, string | null>>;
  readonly detector: string | null;
  /** Names of the subagents that were created in the turn, by their ids. */
  readonly names: Readonly<Record<string, string>>;
  /** Reports of subagents whose texts follow, by the subagent's id. */
  readonly reports: Readonly<Record<string, OpenReport>>;
}

/** A report is a row; the message with its text comes later: the result of the call that waits for it, or its own. */
export interface OpenReport {
  readonly name: string;
  /** `completed`, or how it failed. */
  readonly status: string;
  readonly by: 'message' | 'call';
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
    names: {},
    reports: {},
  };
}
