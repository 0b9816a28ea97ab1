/**
 * RuntimeEvent: what happens in a turn, in the shape and the fifteen types that AgenticX's agent runtime page gives it. It is JSON, so its
 * fields are named as there. Events are read off the log and stored nowhere.
 */

/** Type → data. */
export interface RuntimeEventData {
  /** A round begins: a step of the agent's own. `max_rounds` is null where nothing limits them. */
  readonly round_start: { readonly round: number; readonly max_rounds: number | null };
  /** A piece of streamed text; or, where none has come for a while, a sign that the model has been asked (`waiting`), which is no text. */
  readonly token: { readonly text: string; readonly waiting?: true };
  readonly tool_call: ToolCalled;
  readonly tool_result: {
    readonly name: string;
    readonly result: string;
    readonly tool_call_id: string;
    readonly is_error: boolean;
  };
  /** Somebody is asked: `context.kind` says for what, `context.tool` for which call. It is answered under its id. */
  readonly confirm_required: {
    readonly id: string;
    readonly question: string;
    readonly context: ConfirmContext;
  };
  /** `approved` is false as well where nobody answered in time. */
  readonly confirm_response: { readonly id: string; readonly approved: boolean };
  /** `compacted_count`: the messages that the summary stands for. */
  readonly compaction: { readonly compacted_count: number; readonly summary: string };
  /** Of an agent that another one has begun: after every eighth round. */
  readonly subagent_checkpoint: Checkpoint & { readonly artifact_count: number };
  /** It has no round left and waits for more (`wait_id`). */
  readonly subagent_paused: Checkpoint & { readonly wait_id: string };
  /** The turn's answer: its last event. */
  readonly final: { readonly text: string };
  /** `terminal`: the turn's last event. All others are warnings: a refused call, an attempt that is given up. */
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
  /** Rounds that are over. */
  readonly round: number;
  readonly max_rounds: number | null;
  /** The last ten, each once, in the order in which they were first called. */
  readonly executed_tools: readonly string[];
  readonly text: string;
}

export interface RuntimeFailure {
  readonly text: string;
  readonly terminal: boolean;
  readonly tool_call_id?: string;
  /** Of loops: `generic_repeat`, `ping_pong` or `no_progress`. */
  readonly detector?: string;
  /** What was streamed of the answer so far is void. */
  readonly discarded?: true;
}

/** `agent_id`: the child's thread. */
export interface SubagentNamed {
  readonly agent_id: string;
  readonly name: string;
}

export type RuntimeEventType = keyof RuntimeEventData;

export type RuntimeEvent = {
  readonly [Type in RuntimeEventType]: {
    readonly type: Type;
    readonly data: RuntimeEventData[Type];
    /** Of whose turn it is: `meta`, unless the reading was given another; a subagent has its thread's id. */
    readonly agent_id: string;
  };
}[RuntimeEventType];

/** The words of the page. */
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
 * True once in a turn: on its last event.
 * @example
 * ```ts
 * console.log(isTerminal({ type: 'final', data: { text: 'done' }, agent_id: 'meta' })); // true
 * ```
 */
export function isTerminal({ type, data }: RuntimeEvent): boolean {
  return type === 'final' || (type === 'error' && (data as RuntimeFailure).terminal);
}
