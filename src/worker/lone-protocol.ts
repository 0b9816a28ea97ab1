/** The messages between a worker and a lone process. */
import type { Info } from '@temporalio/activity';
import { ApplicationFailure, type ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { LoneActivity } from '../activities/base/dependencies.ts';
import type { AuthorRun } from '../author/guard/author-run.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import { errorMessage } from '../core/value/error.ts';
import type { Secrets } from '../secret-environment.ts';

/** What a lone process needs to open the same project, store and Temporal server as its worker. */
export interface LonePlace {
  readonly projectDir: string;
  readonly secrets: Secrets;
  readonly namespace: string;
  /** The connection options of `@temporalio/client`, as data. */
  readonly connection: object & { readonly address: string };
}

export interface LoneOrder extends LonePlace {
  readonly activity: LoneActivity;
  readonly input: unknown;
  readonly unit: AuthorRun;
  readonly info: Info;
  readonly settings: Settings;
}

export type ToLone =
  | { readonly kind: 'order'; readonly order: LoneOrder }
  /** The activity is cancelled, or its worker must hand its work over. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'hand_over' };

export type FromLone =
  /** Project, store and connection are open; from now on failures are attributed to the unit. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly failure: FailureData };

/** What Temporal needs to know of a failure, as data. */
export interface FailureData {
  readonly cancelled: boolean;
  readonly message: string;
  readonly type?: string;
  readonly nonRetryable?: boolean;
  readonly nextRetryDelay?: number | string;
  readonly category?: ApplicationFailureCategory;
}

export function toFailureData(error: unknown): FailureData {
  const { name, type, nonRetryable, nextRetryDelay, category } = error as Partial<ApplicationFailure>;
  return {
    cancelled: name === 'CancelledFailure',
    message: errorMessage(error),
    type: type ?? undefined,
    nonRetryable: nonRetryable ?? undefined,
    nextRetryDelay: nextRetryDelay ?? undefined,
    category: category ?? undefined,
  };
}

export function fromFailureData({ cancelled, message, ...failure }: FailureData): Error {
  if (cancelled) return new CancelledFailure(message);
  return ApplicationFailure.create({ message, ...failure } as Parameters<
    typeof ApplicationFailure.create
  >[0]);
}
