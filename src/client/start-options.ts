/** How a client starts a thread's workflow, whether it is new or revived. */
import type { EnvType } from '../core/env.ts';
import { WORKFLOW_ID_PREFIX } from '../core/start-input.ts';

import type { OutgoingMessage } from './outgoing.ts';

export const WORKFLOW_TYPE = 'thread';

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

export function startOptions(taskQueue: string, threadId: string, agent: string) {
  return {
    workflowId: WORKFLOW_ID_PREFIX + threadId,
    taskQueue,
    // A thread that was terminated stays so by the store's word; one whose run was killed goes on.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    // Half of the default: it is what a worker's death within a workflow task costs.
    workflowTaskTimeout: '5 s' as const,
    staticSummary: `${agent} · ${threadId}`.slice(0, 200),
    staticDetails:
      `A thread of the agent **${agent}**. Send it the signal \`queueMessage\` with \`{"content": "…"}\`, or \`stop\`. ` +
      '*Request Cancellation* ends it for good; *Terminate* kills this run, and the next message revives it.',
  };
}
