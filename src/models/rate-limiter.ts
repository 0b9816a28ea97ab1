/**
 * The port of what lets the requests of a worker to a provider in, so that not all of them meet its limit.
 * `memory-limiter.ts` implements it for one process; it also allows one that several workers share.
 */

export interface RateLimiter {
  /** Throws the signal's reason if it aborts first. */
  enter(request: EnteringRequest): Promise<Admission>;
  /** True if a request to a model of this name may have to wait. */
  mayHold(model: string): boolean;
  /** For metrics. */
  list(): readonly ModelLoad[];
}

export interface EnteringRequest {
  /** Endpoint, key and model. */
  readonly line: string;
  /** The model's name in the project. */
  readonly model: string;
  /** Identifies the work that asks, if it comes back. */
  readonly ticket: string;
  /** When that work first asked, in milliseconds since 1970. */
  readonly since: number;
  /** Requests at once that the model's definition allows. */
  readonly concurrency?: number;
  /** Milliseconds that the request may wait here. */
  readonly maxWaitMs: number;
  /** True if it is let in at once. */
  readonly urgent?: boolean;
  readonly signal: AbortSignal;
}

export type Admission = {
  /** Milliseconds since the provider has last accepted or answered a request of this line; infinite if it never has. */
  readonly acceptedAgoMs: number;
} & (
  | { readonly kind: 'admitted'; readonly lease: Lease }
  /** `refused`: the provider's refusals are the reason, not the definition's `concurrency`. */
  | { readonly kind: 'later'; readonly pauseMs: number; readonly refused: boolean }
);

/** A request that was let in. */
export interface Lease {
  /** Its answer has begun. */
  accepted(): void;
  /** The provider is busy. Returns the milliseconds until a request may be sent again. */
  refused(retryAfterMs?: number): number;
  /** Must be called, once the request has ended. */
  end(): void;
}

export interface ModelLoad {
  readonly model: string;
  readonly running: number;
  readonly waiting: number;
  /** Requests at once; infinite if nothing limits them. */
  readonly limit: number;
}
