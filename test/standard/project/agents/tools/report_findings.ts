import { defineTool } from '@standardagents/builder';
import { z } from 'zod';

export default defineTool({
  description: 'Reports what was found.',
  args: z.object({ summary: z.string() }),
  execute: async (_state, { summary }) => ({ status: 'success', result: summary }),
});
