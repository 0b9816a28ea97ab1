/**
 * The tools that the client of the newest user message runs itself (core/project/client-tool.ts), as models are offered
 * them.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { type ClientTool, clientToolName, findClientTools } from '../../core/project/client-tool.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { type McpOffer, NO_MCP } from './mcp-offer.ts';

type Ports = Pick<ActivityDependencies, 'store'>;

const PAGE = 100;

/** Reads the tools of the newest user message. */
export async function readClientTools({ store }: Ports, threadId: string): Promise<readonly ClientTool[]> {
  for (let offset = 0; ; offset += PAGE) {
    const { messages, hasMore } = await retryWhileUnavailable(abortSignal(), () =>
      store.messages.list(threadId, { limit: PAGE, offset, order: 'desc', includeSilent: true }),
    );
    const stored = messages.filter(({ status }) => status !== 'pending').toReversed();
    const tools = findClientTools(stored);
    if (tools || !hasMore) return tools ?? [];
  }
}

/** Reads nothing more if the step's messages include the newest user message. */
export async function readClientOffer(
  ports: Ports,
  { thread, messages, subprompt, summary }: StepContext,
): Promise<McpOffer> {
  // Client tools are offered to the conversation, not to its sub-prompts.
  if (subprompt) return NO_MCP;
  // A summary may have replaced the newest user message.
  const tools = findClientTools(messages) ?? (summary ? await readClientTools(ports, thread.id) : []);
  return new Map(
    tools.map(({ name, description, parameters }) => {
      const called = clientToolName(name);
      return [called, { name: called, description, parameters }];
    }),
  );
}
