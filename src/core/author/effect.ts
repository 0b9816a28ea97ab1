/** Scheduled effects (definitions §10): author code that a thread runs later, durably. */
import type { AuthorSchema } from './author-schema.ts';
import type { ThreadState } from './thread-state.ts';

export interface EffectDefinition {
  readonly kind: 'effect';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly description: string;
  readonly args?: AuthorSchema;
  readonly execute: (state: ThreadState, args?: never) => Promise<void> | void;
}
