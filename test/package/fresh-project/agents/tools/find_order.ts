import { defineTool, type ThreadState, type ToolResult } from 'everthread';
import { z } from 'zod';

interface Customer {
  customer: string;
}

type State = ThreadState<Customer, { found?: string[] }, { limit?: number }>;

export default defineTool({
  description: 'Finds an order.',
  args: z.object({ id: z.string(), full: z.boolean().default(false) }),
  idempotent: true,
  execute: async (state: State, { id, full }) => {
    const { customer } = state.arguments;
    state.context.found = [...(state.context.found ?? []), id];
    const result: ToolResult = { status: 'success' };
    result.result = `${customer} ${id.toUpperCase()} ${full ? 'all' : 'short'} ${state.options.limit ?? 1}`;
    return result;
  },
});
