/** The live side of a step: the calls of models behind it, and the text that they stream. */
import type { ContextManifest } from '../../core/context/context-manifest.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { StepRef } from './step.ts';

export interface ModelCallStart extends StepRef {
  readonly call: number;
  readonly model: string;
  readonly modelId: string;
  /** Asked where a budget bounds tokens or cost: how much of it the request may take, and how long its end may be awaited. */
  readonly reserve?: () => CallEstimate & { readonly leaseMs: number };
  /** It is not for the answer: where a budget denies it, or has no room for the answer's behind it, it is `declined`. */
  readonly purpose?: 'compaction';
  /** What is about to be sent, told with the call where a budget bounds the execution, or `always`. */
  readonly prepared?: { readonly always: boolean; readonly manifest: () => ContextManifest };
}

export type StartedModelCall =
  /** `maxOutputTokens`: as much as it may answer with, `leftMs`: as long as it may take, where a budget bounds it. */
  | { readonly kind: 'started'; readonly maxOutputTokens?: number; readonly leftMs?: number }
  | { readonly kind: 'terminated' }
  /** Only what other requests hold is in its way: the step is asked for again once they have ended. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  /** It can be done without: the budget goes on as it was. */
  | { readonly kind: 'declined' };

/** Calls of an attempt at a step are numbered from here. */
export const FIRST_CALL = 1;

export interface ModelCallEnd extends StepRef {
  readonly call: number;
  readonly ok: boolean;
  readonly error?: StoredError & {
    readonly statusCode?: number;
    readonly retryInMs?: number;
    readonly plain?: boolean;
  };
  /** It has streamed text, which readers are to forget: told with its failure. */
  readonly discards?: boolean;
  readonly usage?: ProviderUsage;
  readonly cost?: number;
  /** When it was sent; absent, when its row was written. */
  readonly startedAt?: number;
  readonly firstTokenAt?: number;
  /** Kinds of chunks of the answer that nothing was kept of. */
  readonly ignored?: readonly string[];
}

/** The call that brought an answer, as it has ended. */
export type AnsweredCall = Pick<
  ModelCallEnd,
  'call' | 'usage' | 'cost' | 'startedAt' | 'firstTokenAt' | 'ignored'
>;

export interface ModelChunk extends StepRef {
  readonly call: number;
  readonly delta: string;
}

/** Keys of a call: step, attempt, call. On a terminated thread nothing is written. */
export interface ModelCallStore {
  /** The same call again changes nothing. `exceeded`: the execution's budget denies it, and nothing is written of it. */
  start(command: ModelCallStart): Promise<StartedModelCall>;
  /** Appends streamed text to the log; false when the attempt no longer has the step open and nothing was written. */
  appendChunk(command: ModelChunk): Promise<boolean>;
  /** Tells readers that no answer has begun; false as with a chunk. */
  tellWaiting(command: StepRef & Pick<ModelChunk, 'call'>): Promise<boolean>;
  /** Settles the call, once; also one that was taken for lost. */
  end(command: ModelCallEnd): Promise<void>;
}
