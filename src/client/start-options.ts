/** What a client says of a thread that it starts. */
import type { EnvType } from '../core/env.ts';
import type { OutgoingMessage } from './outgoing.ts';

export interface StartThread {
  readonly agent: string;
  /** Made when absent: unguessable. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Readable as `state.arguments`, and as `{{key}}` in prompts. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /**
   * Variables of the new thread, there before anything runs. A plain string becomes a secret; only the store gets them,
   * never the Temporal server.
   */
  readonly env?: Readonly<Record<string, string | { readonly value: string; readonly type?: EnvType }>>;
  /** The first messages, oldest first. */
  readonly messages?: readonly OutgoingMessage[];
}
