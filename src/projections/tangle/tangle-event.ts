/**
 * What happens in an execution, in the words of Tangle's agent-runtime: events `{ type, data }` as a box streams them, and as the lines of a chat turn. They
 * are read off the log and stored nowhere.
 */

/** Type → data. */
export interface TangleEventData {
  /** The first one. `sessionId` is the thread. */
  readonly 'execution.started': { readonly executionId: string; readonly sessionId: string };
  /** A model is asked for an answer of the agent's own; what is streamed of it follows. */
  readonly 'message.started': { readonly round: number };
  readonly 'message.part.updated': { readonly delta: string; readonly part: { readonly type: 'text' } };
  /** What was streamed behind the last `message.started` is void: it comes anew. `Replaced`: at once, as it was stored. */
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
  /** One request that was answered. `costUsd`: where the model has prices. */
  readonly llm_call: {
    readonly model: string;
    readonly tokensIn?: number;
    readonly tokensOut?: number;
    readonly costUsd?: number;
  };
  /** A model has failed, and the next one of its list is asked. */
  readonly 'model.fallback': {
    readonly fromModel: string;
    readonly toModel: string;
    readonly reason: string;
  };
  /** A file of the thread, by its path. */
  readonly artifact: {
    readonly artifactId: string;
    readonly name: string;
    readonly mimeType: string;
    readonly size: number;
  };
  /** A person is asked; it is answered under `waitId`. */
  readonly 'input.required': {
    readonly waitId: string;
    readonly kind: string;
    readonly name: string;
    readonly question: string;
    readonly toolCallId?: string;
  };
  readonly 'input.closed': { readonly waitId: string };
  /** In streams that end where a person is waited for: their last one. What follows an answer is read behind it. */
  readonly 'execution.waiting': { readonly executionId: string; readonly waitIds: readonly string[] };
  /** What the agent has said last; before the end of an execution that was not in vain. */
  readonly result: { readonly finalText: string };
  /** Why it has failed; `execution.failed` follows. */
  readonly error: { readonly message: string; readonly code: string };
  /** The last one, or `execution.failed`. */
  readonly 'execution.completed': { readonly executionId: string };
  readonly 'execution.failed': {
    readonly executionId: string;
    readonly message: string;
    /** `stopped`: somebody has ended it. */
    readonly status: 'failed' | 'stopped';
  };
}

export type TangleEventType = keyof TangleEventData;

/** Narrow it by its `type`. A turn that code of a process produces has that code's own types between the first event and the last. */
export type TangleEvent = {
  readonly [Type in TangleEventType]: { readonly type: Type; readonly data: TangleEventData[Type] };
}[TangleEventType];

/**
 * Nothing follows it in its stream.
 * @example
 * ```ts
 * const isOver = isLastEvent({ type: 'execution.completed' }); // true
 * ```
 */
export function isLastEvent({ type }: { readonly type: string }): boolean {
  return type === 'execution.completed' || type === 'execution.failed' || type === 'execution.waiting';
}
