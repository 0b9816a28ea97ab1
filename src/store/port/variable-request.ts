/** Requests for variables that a child needs and nobody has (runtime §7.5): the child is kept until they come. */
import type { EnvType } from '../../core/author/thread-env.ts';
import type { CreatedChild, GivenVariable, NewChild, ParentCall } from './child.ts';

/** A request for variables that a child needs (runtime §7.5). */
export interface VariableRequest {
  readonly id: string;
  readonly parentId: string;
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  readonly createdAt: number;
  /** The child that it has become, once: a request serves a single time. */
  readonly childId: string | null;
}

export interface KeepRequest {
  readonly id: string;
  readonly parentId: string;
  readonly call: ParentCall;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /** Variables that the child does not take over from its parent: whoever serves the request knows no definitions. Kept with `child`. */
  readonly scoped: readonly string[];
  /** The declared types of missing variables: for values that come without one. */
  readonly types?: Readonly<Record<string, EnvType>>;
  readonly child: NewChild;
}

export interface FulfilRequest {
  readonly parentId: string;
  readonly requestId: string;
  /** Beside these the child has what was stored for its thread before it was there (`env.set`), which wins over what it inherits. */
  readonly given: readonly GivenVariable[];
}

export type FulfilledRequest =
  | Exclude<CreatedChild, { kind: 'terminated' }>
  | { readonly kind: 'unknown' }
  | { readonly kind: 'used'; readonly childId: string }
  /** It was refused. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'terminated' };

export interface VariableRequestStore {
  /** The same call again changes nothing and answers the request that is there. Rejects with `ThreadTerminated`. */
  keep(command: KeepRequest): Promise<VariableRequest>;
  get(requestId: string): Promise<VariableRequest | null>;
  /** Oldest first; those that have been served or refused are left out. */
  list(parentId: string): Promise<readonly VariableRequest[]>;
  /** Makes the child with the values given, in one transaction with the request's end. Rejects with `InvalidVariable`. */
  fulfil(command: FulfilRequest): Promise<FulfilledRequest>;
}
