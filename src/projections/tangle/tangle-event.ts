/**
 * Events of an execution with the names of Tangle's agent-runtime: `{ type, data }`, as a box streams them, and as the
 * lines of a chat turn. They are derived from the log and not stored.
 */

/** Type → data. */
export interface TangleEventData {
  /** The first event. `sessionId` is the thread's id. */
  readonly 'execution.started': { readonly executionId: string; readonly sessionId: string };
  /** A step of the agent itself begins, not of a sub-prompt; the streamed text of its answer follows. */
  readonly 'message.started': { readonly round: number };
  readonly 'message.part.updated': { readonly delta: string; readonly part: { readonly type: 'text' } };
  /** The text since the last `message.started` is void and is sent again; with `Replaced`, at once, as stored. */
  readonly 'message.discarded': { readonly reason: string };
  readonly tool_call: {
    readonly toolName: string;
    readonly toolCallId: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly tool_result: {
    readonly toolName: string;
    readonly toolCallId: string;
    readonly result: string;
    readonly isError: boolean;
  };
  /** One answered model request. `costUsd`: set if the model has prices. */
  readonly llm_call: {
    readonly model: string;
    readonly tokensIn?: number;
    readonly tokensOut?: number;
    readonly costUsd?: number;
  };
  /** A model has failed, and the next one in the list is asked. */
  readonly 'model.fallback': {
    readonly fromModel: string;
    readonly toModel: string;
    readonly reason: string;
  };
  /** A file of the thread; `artifactId` is its path. */
  readonly artifact: {
    readonly artifactId: string;
    readonly name: string;
    readonly mimeType: string;
    readonly size: number;
  };
  /** A person is asked; the answer must name `waitId`. */
  readonly 'input.required': {
    readonly waitId: string;
    readonly kind: string;
    readonly name: string;
    readonly question: string;
    readonly toolCallId?: string;
  };
  readonly 'input.closed': { readonly waitId: string };
  /** The last event of a stream that ends at a wait for a person. To read on after the answer, resume after it. */
  readonly 'execution.waiting': { readonly executionId: string; readonly waitIds: readonly string[] };
  /** The agent's last answer; precedes `execution.completed`. */
  readonly result: { readonly finalText: string };
  /** Why the execution has failed; `execution.failed` follows. */
  readonly error: { readonly message: string; readonly code: string };
  /** The last event, unless that is `execution.failed`. */
  readonly 'execution.completed': { readonly executionId: string };
  readonly 'execution.failed': {
    readonly executionId: string;
    readonly message: string;
    /** `stopped`: it was ended from outside. */
    readonly status: 'failed' | 'stopped';
  };
}

export type TangleEventType = keyof TangleEventData;

/**
 * Narrow it by its `type`. If code of a process produces the turn, the events between the first and the last one have
 * that code's own types.
 */
export type TangleEvent = {
  readonly [Type in TangleEventType]: { readonly type: Type; readonly data: TangleEventData[Type] };
}[TangleEventType];

/**
 * True for the last event of a stream.
 * @example
 * ```ts
 * const isOver = isLastEvent({ type: 'execution.completed' }); // true
 * ```
 */
export function isLastEvent({ type }: { readonly type: string }): boolean {
  return type === 'execution.completed' || type === 'execution.failed' || type === 'execution.waiting';
}
