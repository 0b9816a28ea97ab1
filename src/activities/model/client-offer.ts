/** What the client that has spoken last offers to run itself (core/project/client-tool.ts), as models are offered it. */
import { type ClientTool, clientToolName, findClientTools } from '../../core/project/client-tool.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { StepContext } from '../../store/port/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { type McpOffer, NO_MCP } from './mcp-offer.ts';

type Ports = Pick<ActivityDependencies, 'store'>;

const PAGE = 100;

/** What whoever has spoken last offers to run. */
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

/** Nothing more is read where the step has read what was said last. */
export async function readClientOffer(
  ports: Ports,
  { thread, messages, subprompt, summary }: StepContext,
): Promise<McpOffer> {
  // Offered to the conversation, and to nothing within it.
  if (subprompt) return NO_MCP;
  // A summary stands in place of what was said.
  const tools = findClientTools(messages) ?? (summary ? await readClientTools(ports, thread.id) : []);
  return new Map(
    tools.map(({ name, description, parameters }) => {
      const called = clientToolName(name);
      return [called, { name: called, description, parameters }];
    }),
  );
}
