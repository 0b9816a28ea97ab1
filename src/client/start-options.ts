/** A client's options for a thread that it starts. */
import type { EnvType } from '../core/author/thread-env.ts';
import type { OutgoingMessage } from './outgoing.ts';

export interface StartThread {
  readonly agent: string;
  /** Generated when absent, and then unguessable. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Readable as `state.arguments`, and as `{{key}}` in prompts. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /**
   * Variables of the new thread, set before anything runs. A plain string becomes a secret; only the store receives them,
   * never the Temporal server.
   */
  readonly env?: Readonly<Record<string, string | { readonly value: string; readonly type?: EnvType }>>;
  /** The first messages, oldest first. */
  readonly messages?: readonly OutgoingMessage[];
}
