import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Sends the draft back with what is missing.',
  args: z.object({ changes: z.string().min(1).describe('One thing, to the point') }),
  quick: true,
  execute: () => ({ status: 'success', result: 'The coordinator has it.' }),
});
