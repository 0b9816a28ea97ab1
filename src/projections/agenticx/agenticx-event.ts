/**
 * RuntimeEvent: what happens in a turn, with the shape and the fifteen types of AgenticX's agent runtime page. It is
 * JSON, so its fields are named as there. Events are derived from the log and not stored.
 */

/** Type → data. */
export interface RuntimeEventData {
  /** A round begins: a step of the agent itself, not of a sub-prompt. `max_rounds` is null if there is no limit. */
  readonly round_start: { readonly round: number; readonly max_rounds: number | null };
  /** A piece of streamed text. With `waiting`: an empty text, and a sign that the model has not answered for a while. */
  readonly token: { readonly text: string; readonly waiting?: true };
  readonly tool_call: ToolCalled;
  readonly tool_result: {
    readonly name: string;
    readonly result: string;
    readonly tool_call_id: string;
    readonly is_error: boolean;
  };
  /** A person is asked: `context.kind` says for what, `context.tool` about which tool. The answer must name `id`. */
  readonly confirm_required: {
    readonly id: string;
    readonly question: string;
    readonly context: ConfirmContext;
  };
  /** `approved` is also false if there was no answer in time. */
  readonly confirm_response: { readonly id: string; readonly approved: boolean };
  /** `compacted_count`: number of messages that the summary replaces. */
  readonly compaction: { readonly compacted_count: number; readonly summary: string };
  /** Only for a subagent: emitted after every eighth round. */
  readonly subagent_checkpoint: Checkpoint & { readonly artifact_count: number };
  /** Only for a subagent: it has no rounds left and waits until more are allowed (`wait_id`). */
  readonly subagent_paused: Checkpoint & { readonly wait_id: string };
  /** The turn's answer: its last event. */
  readonly final: { readonly text: string };
  /** `terminal`: the turn's last event. All other errors are warnings: a refused call, a discarded attempt. */
  readonly error: RuntimeFailure;
  readonly subagent_started: SubagentNamed & {
    readonly role: string;
    readonly task: string;
    readonly status: 'running';
    readonly mode: 'session';
  };
  readonly subagent_progress: { readonly agent_id: string; readonly text: string };
  readonly subagent_completed: SubagentNamed & { readonly status: 'completed'; readonly summary: string };
  readonly subagent_error: SubagentNamed & { readonly status: string; readonly summary: string };
}

export interface ToolCalled {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly tool_call_id: string;
}

export interface ConfirmContext {
  readonly request_id: string;
  readonly kind: string;
  readonly tool: string;
  readonly tool_call_id?: string;
}

export interface Checkpoint {
  readonly agent_id: string;
  /** Number of rounds that are over. */
  readonly round: number;
  readonly max_rounds: number | null;
  /** The last ten distinct tools, in the order of their first calls. */
  readonly executed_tools: readonly string[];
  readonly text: string;
}

export interface RuntimeFailure {
  readonly text: string;
  readonly terminal: boolean;
  readonly tool_call_id?: string;
  /** Set if a loop has ended the turn: `generic_repeat`, `ping_pong` or `no_progress`. */
  readonly detector?: string;
  /** Set if the text streamed so far for the answer is void. */
  readonly discarded?: true;
}

/** `agent_id`: id of the child's thread. */
export interface SubagentNamed {
  readonly agent_id: string;
  readonly name: string;
}

export type RuntimeEventType = keyof RuntimeEventData;

export type RuntimeEvent = {
  readonly [Type in RuntimeEventType]: {
    readonly type: Type;
    readonly data: RuntimeEventData[Type];
    /** The agent of the turn: `meta` unless the reader has named another; for a subagent, the id of its thread. */
    readonly agent_id: string;
  };
}[RuntimeEventType];

/** The types of events, with the constant names of the page. */
export const EventType = {
  ROUND_START: 'round_start',
  TOKEN: 'token',
  TOOL_CALL: 'tool_call',
  TOOL_RESULT: 'tool_result',
  CONFIRM_REQUIRED: 'confirm_required',
  CONFIRM_RESPONSE: 'confirm_response',
  COMPACTION: 'compaction',
  SUBAGENT_CHECKPOINT: 'subagent_checkpoint',
  SUBAGENT_PAUSED: 'subagent_paused',
  FINAL: 'final',
  ERROR: 'error',
  SUBAGENT_STARTED: 'subagent_started',
  SUBAGENT_PROGRESS: 'subagent_progress',
  SUBAGENT_COMPLETED: 'subagent_completed',
  SUBAGENT_ERROR: 'subagent_error',
} as const satisfies Readonly<Record<string, RuntimeEventType>>;

/**
 * True for the last event of a turn, and for no other.
 * @example
 * ```ts
 * console.log(isTerminal({ type: 'final', data: { text: 'done' }, agent_id: 'meta' })); // true
 * ```
 */
export function isTerminal({ type, data }: RuntimeEvent): boolean {
  return type === 'final' || (type === 'error' && (data as RuntimeFailure).terminal);
}
