import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Approves the brief: it goes out as you give it here, and the work on it is over.',
  args: z.object({ brief: z.string().min(1).describe('The brief, as it is to go out') }),
  quick: true,
  execute: () => ({ status: 'success', result: 'Approved.' }),
});
