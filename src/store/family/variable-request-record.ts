/**
 * Requests for variables that a child needs and that are not set (runtime §7.5). The child is created once they are
 * given.
 */

import type { EnvType } from '../../core/author/thread-env.ts';
import type { CallKey } from '../transaction/call-row.ts';
import type { CreatedChild, GivenVariable, NewChild } from './child-record.ts';

/** A request for variables that a child needs (runtime §7.5). */
export interface VariableRequest {
  readonly id: string;
  readonly parentId: string;
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  readonly createdAt: number;
  /** The child created from it; null before. A request can be fulfilled once. */
  readonly childId: string | null;
}

export interface KeepRequest {
  readonly id: string;
  readonly parentId: string;
  readonly call: CallKey;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /**
   * Variables that the child does not inherit from its parent. Stored with `child`: whoever fulfils the request does
   * not know the definitions.
   */
  readonly scoped: readonly string[];
  /** Declared types of missing variables, for values that are given without a type. */
  readonly types?: Readonly<Record<string, EnvType>>;
  readonly child: NewChild;
}

export interface FulfilRequest {
  readonly parentId: string;
  readonly requestId: string;
  /**
   * Values for the child. It also has what was stored for its thread before it existed (`env.set`), which overrides
   * what it inherits.
   */
  readonly given: readonly GivenVariable[];
}

export type FulfilledRequest =
  | Exclude<CreatedChild, { kind: 'terminated' }>
  | { readonly kind: 'unknown' }
  | { readonly kind: 'used'; readonly childId: string }
  /** The request was refused. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'terminated' };
