/** A running step: its model calls, and the text that they stream. */
import type { ContextManifest } from '../../core/context/context-manifest.ts';
import type { CountedRequest } from '../../core/context/model-count.ts';
import type { EventData } from '../../core/event/event-data.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { SourcedPrices } from '../../core/message/model-price.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { Pico } from '../../core/value/money.ts';
import type { StepRef } from '../transaction/from-run.ts';

export interface ModelCallStart extends StepRef {
  readonly call: number;
  readonly model: string;
  readonly modelId: string;
  /**
   * Called if a budget limits tokens or cost. Returns what the request may use, and `leaseMs`: how long its end may be
   * awaited before others may settle it.
   */
  readonly reserve?: () => CallEstimate & { readonly leaseMs: number };
  /**
   * Set if the call does not produce the answer: it is `declined` if a budget denies it, or has no room for it and for
   * the answer's call.
   */
  readonly purpose?: 'compaction';
  /**
   * The request that is about to be sent; logged with the call if a budget limits the execution, or if `always` is set.
   */
  readonly prepared?: { readonly always: boolean; readonly manifest: () => ContextManifest };
}

export type StartedModelCall =
  /**
   * Set if a budget limits the call. `maxOutputTokens`: limit of the answer's tokens. `leftMs`: milliseconds that it
   * may take.
   */
  | { readonly kind: 'started'; readonly maxOutputTokens?: number; readonly leftMs?: number }
  | { readonly kind: 'terminated' }
  /** Refused only because of what other requests have reserved: ask again for the step once they have ended. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  /** An optional call (`purpose`) was refused; the budget is unchanged. */
  | { readonly kind: 'declined' };

/** Number of the first call of an attempt at a step. */
export const FIRST_CALL = 1;

export interface ModelCallEnd extends StepRef {
  readonly call: number;
  readonly ok: boolean;
  readonly error?: StoredError & {
    readonly statusCode?: number;
    readonly retryInMs?: number;
    readonly plain?: boolean;
    readonly withoutMetadata?: boolean;
    /** Name of the tool that it is sent again without. */
    readonly withoutTool?: string;
    /** The request was too long: the provider has not answered it, so it costs nothing. */
    readonly tooLong?: true;
    /** It is sent again smaller. */
    readonly smaller?: true;
  };
  /** Set if it has streamed text that readers must discard; logged with its failure. */
  readonly discards?: boolean;
  readonly usage?: ProviderUsage;
  /** 10⁻¹² US dollars. */
  readonly cost?: Pico;
  /** The prices from which the cost was computed. */
  readonly price?: SourcedPrices;
  /** When the call was sent; if absent, the time at which its row was written counts. */
  readonly startedAt?: number;
  readonly firstTokenAt?: number;
  /** Kinds of chunks of the answer that were ignored: nothing of them is stored. */
  readonly ignored?: readonly string[];
  /** What it shows of how the model counts. */
  readonly counted?: CountedRequest & { readonly model: string };
}

/** The end of the call that produced an answer. */
export type AnsweredCall = Pick<
  ModelCallEnd,
  'call' | 'usage' | 'cost' | 'price' | 'startedAt' | 'firstTokenAt' | 'ignored' | 'counted'
>;

export interface ModelChunk extends StepRef {
  readonly call: number;
  /** Text of the answer; empty for the others. */
  readonly delta: string;
  readonly reasoning?: string;
  /** A piece of a tool call's arguments. */
  readonly input?: EventData['model.chunk']['input'];
}

/** A model takes no request for now: the step is left, and asked for again. */
export interface HoldModel extends StepRef {
  readonly model: string;
  readonly pauseMs: number;
  /** How often the model has refused the step's request. */
  readonly refusals: number;
}
