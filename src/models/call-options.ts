/** What a call of a step's models is given, what it reports of each attempt, and how it ends. */
import type { ModelDefinition } from '../core/author/definition.ts';
import type { HoldCause } from '../core/event/cause.ts';
import type { ProviderError, ProviderRequest, ProviderResponse } from '../core/message/provider.ts';
import type { LengthRefusal } from '../core/message/provider-terms.ts';
import type { AskedSoFar, HeldModel } from '../core/thread/step.ts';
import type { Place } from './admission.ts';
import type { DeltaKind, StreamedCall } from './answer-reader.ts';
import type { ToRequest } from './attempt.ts';
import type { AttemptLimits } from './attempt-plan.ts';
import type { VariableLookup } from './provider-config.ts';

export interface AttemptStart {
  /** 1 for the first attempt of the step; counts on across fallbacks. */
  readonly attempt: number;
  /** `name` is the model's own name, `model` the provider's id. */
  readonly model: ModelDefinition;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds that it stood in the model's line. */
  readonly heldMs: number;
  /** The model that this one replaces, with the code of its last failure, if that was here. */
  readonly insteadOf?: ReplacedModel | undefined;
}

export interface ReplacedModel {
  readonly model: string;
  readonly code?: string;
}

export interface AttemptEnd extends AttemptStart {
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  readonly outcome: AttemptOutcome;
}

export type AttemptOutcome =
  /** `firstTokenAt`: milliseconds since 1970. `ignored`: kinds of chunks that the response leaves out. */
  | {
      readonly ok: true;
      readonly response: ProviderResponse;
      readonly firstTokenAt: number;
      readonly ignored: readonly string[];
      /** Set if the provider reported its cached tokens beside `promptTokens`. */
      readonly leftCacheOut?: true;
    }
  | {
      readonly ok: false;
      readonly error: ProviderError;
      readonly next: 'retry' | 'plain' | 'smaller' | 'fallback' | 'give_up';
      /** With `next: 'retry'`. */
      readonly willRetryInMs?: number;
      /** With `next: 'retry'`: what providers want back with answers is left out. */
      readonly withoutMetadata?: true;
      /** With `next: 'retry'`: this tool, which the provider refused, is left out. */
      readonly withoutTool?: string;
      /** With `next: 'retry'`: the tools and the format of the answer, which the provider refused together, are asked apart. */
      readonly withoutFormat?: true;
    };

export interface AttemptChunk {
  readonly attempt: number;
  readonly kind: DeltaKind;
  readonly delta: string;
  /** With the kind `input`. */
  readonly call?: StreamedCall;
}

export interface CallModelOptions {
  /** The primary model first, then its fallbacks. */
  readonly models: readonly ModelDefinition[];
  /** The request for this model; `signal` is added here. */
  readonly request: ToRequest;
  /** Reads the variables that may be settings of a provider; called only if a provider's factory needs some. */
  readonly variables?: () => Promise<VariableLookup>;
  readonly signal: AbortSignal;
  /** Called before the request is sent; awaited. */
  readonly onAttempt?: (start: AttemptStart) => Promise<void> | void;
  /** Runs the request of an attempt, from its sending to the end of its answer. */
  readonly within?: <T>(start: AttemptStart, request: () => Promise<T>) => Promise<T>;
  /** Called with the request of an attempt as its provider gets it; synchronous, must not throw. */
  readonly onRequest?: (start: AttemptStart, request: ProviderRequest) => void;
  /**
   * Milliseconds left for the attempt that `onAttempt` announced last. An attempt that is cut off by this limit is
   * announced again at once; `onAttempt` throws if it may not be repeated.
   */
  readonly leftMs?: () => number | undefined;
  /** Called if no answer has begun within the model's `feedbackMs`, which is `afterMs`; synchronous, must not throw. */
  readonly onWaiting?: (start: AttemptStart, afterMs: number) => void;
  /** Called after a refusal for length. True if `request` gives this model a smaller request from now on. */
  readonly onTooLong?: (model: ModelDefinition, refusal: LengthRefusal) => boolean;
  /** Called after a refusal of one tool: `request` leaves it out for this model from now on. Without it, nothing is left out. */
  readonly onRefusedTool?: (model: ModelDefinition, tool: string) => void;
  /** Called after a refusal of tools beside a format: `request` asks this model for them apart from now on. Without it, nothing changes. */
  readonly onRefusedFormat?: (model: ModelDefinition) => void;
  /** Called for each piece of text or reasoning; synchronous, must not throw: collect here, write elsewhere. */
  readonly onChunk?: (chunk: AttemptChunk) => void;
  /** Called after an attempt; awaited before anything else happens. */
  readonly onAttemptEnd?: (end: AttemptEnd) => Promise<void> | void;
  readonly limits?: Partial<AttemptLimits>;
  /** Where requests wait for their turn; without it, each is sent at once. */
  readonly place?: Place;
  /** What has become of the answer so far, if an earlier activity was left. */
  readonly asked?: AskedSoFar;
  /** True if the first request is already recorded. */
  readonly recorded?: boolean;
  /** Waits between attempts; must resolve or reject when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** `attempts` is the number of requests; `error` is the error of the last one. */
export type CallModelResult =
  | {
      readonly ok: true;
      readonly response: ProviderResponse;
      readonly model: ModelDefinition;
      readonly attempts: number;
    }
  | {
      readonly ok: false;
      readonly error: ProviderError;
      readonly attempts: number;
      /** Set if a model takes no request for now, and its turn is not awaited here; with a `place` alone. */
      readonly held?: HeldModel;
      /** Why, with `held`. */
      readonly by?: HoldCause;
    };
