/**
 * Backends: they stream answers, with the names of Tangle's agent-runtime. A backend can be used alone, or as a model
 * of an agent (provider.ts).
 */

import type { TaskEmission } from '../../../core/task/emission.ts';

/** An event of a backend's stream; events come in the order in which things happen. */
export type BackendEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly toolName: string;
      readonly toolCallId?: string;
      /** The parsed arguments; the text itself if it is not JSON. */
      readonly args?: unknown;
    }
  | {
      readonly type: 'tool_result';
      readonly toolName: string;
      readonly toolCallId?: string;
      readonly result?: unknown;
    }
  | LlmCall
  | {
      readonly type: 'artifact';
      readonly artifactId: string;
      readonly name?: string;
      readonly mimeType?: string;
      readonly uri?: string;
      readonly content?: unknown;
    }
  | Extract<TaskEmission, { type: 'proposal_created' | 'text_discarded' | 'model_fallback' }>;

export interface LlmCall {
  readonly type: 'llm_call';
  /** The model that has answered. */
  readonly model: string;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly costUsd?: number;
  readonly latencyMs?: number;
  readonly finishReason?: string;
}

export interface BackendMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
}

export interface BackendTask {
  readonly id: string;
  /** A fixed name of what is done; never a user's text. */
  readonly intent: string;
}

export interface BackendInput {
  readonly task: BackendTask;
  readonly message?: string | undefined;
  readonly messages?: readonly BackendMessage[] | undefined;
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

export interface BackendSession {
  readonly id: string;
  readonly resumeToken?: string | undefined;
}

export interface BackendContext {
  readonly signal?: AbortSignal | undefined;
  /** Id of the turn, the same for every attempt at it. */
  readonly turnId?: string | undefined;
  readonly session?: BackendSession | undefined;
  readonly propagatedHeaders?: Readonly<Record<string, string>> | undefined;
}

export interface AgentExecutionBackend {
  readonly kind: string;
  /**
   * True if a prompt whose worker was lost may be sent again with the same `turnId`: the backend attaches to what it
   * has begun, or does nothing but answer. A task of another backend then fails: what it has done is unknown.
   */
  readonly repeatable?: boolean;
  /** Throws an error with a code if it cannot do what is asked; never silently does something else instead. */
  stream(input: BackendInput, context?: BackendContext): AsyncIterable<BackendEvent>;
  start?(input: BackendInput, context?: BackendContext): Promise<BackendSession> | BackendSession;
  /** Continues a session; called before `stream`. */
  resume?(session: BackendSession, input: BackendInput, context?: BackendContext): Promise<void> | void;
  stop?(session: BackendSession | undefined, reason: string): Promise<void> | void;
}

export type BackendOutput = Iterable<BackendEvent | string> | AsyncIterable<BackendEvent | string>;

/**
 * Makes a backend of a function that yields events or texts. The backend lives with its process.
 * @example
 * ```ts
 * const echo = createIterableBackend(({ message = '' }) => ['You said: ', message]);
 * for await (const event of echo.stream({ task: { id: 't', intent: 'echo' }, message: 'hi' })) console.log(event);
 * ```
 */
export function createIterableBackend(
  make: (input: BackendInput, context: BackendContext) => BackendOutput,
  { kind = 'iterable' }: { readonly kind?: string } = {},
): AgentExecutionBackend {
  return {
    kind,
    async *stream(input, context = {}) {
      for await (const each of make(input, context)) {
        context.signal?.throwIfAborted();
        yield typeof each === 'string' ? { type: 'text_delta', text: each } : each;
      }
    },
  };
}

/** Returns what a backend must answer: the message, else the last message of a user, else the task's `intent`. */
export function promptOf({ message, messages, task }: BackendInput): string {
  return message ?? messages?.findLast(({ role }) => role === 'user')?.content ?? task.intent;
}
