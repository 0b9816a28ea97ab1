/** What streams an answer, in the words of Tangle's agent-runtime. A backend can be used alone, or as a model of an agent (provider.ts). */

import type { TaskEmission } from '../../core/task/emission.ts';

/** What a backend tells, in the order in which it happens. */
export type BackendEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly toolName: string;
      readonly toolCallId?: string;
      /** Parsed; the text itself where it is no JSON. */
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
  /** That has answered. */
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
  /** A fixed name of what is done; never a user's words. */
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
  /** The same however often the turn is tried. */
  readonly turnId?: string | undefined;
  readonly session?: BackendSession | undefined;
  readonly propagatedHeaders?: Readonly<Record<string, string>> | undefined;
}

export interface AgentExecutionBackend {
  readonly kind: string;
  /** Throws what it cannot do, with a code: nothing else is tried in silence. */
  stream(input: BackendInput, context?: BackendContext): AsyncIterable<BackendEvent>;
  start?(input: BackendInput, context?: BackendContext): Promise<BackendSession> | BackendSession;
  /** Goes on with a session, before `stream`. */
  resume?(session: BackendSession, input: BackendInput, context?: BackendContext): Promise<void> | void;
  stop?(session: BackendSession | undefined, reason: string): Promise<void> | void;
}

export type BackendOutput = Iterable<BackendEvent | string> | AsyncIterable<BackendEvent | string>;

/**
 * Whatever yields events, or texts. It lives with its process.
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

/** What a backend is to answer: the message, else the last one of a user, else the name of the task. */
export function promptOf({ message, messages, task }: BackendInput): string {
  return message ?? messages?.findLast(({ role }) => role === 'user')?.content ?? task.intent;
}
