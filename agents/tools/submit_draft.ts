import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Hands a draft of the brief to the reviewer, who answers next.',
  args: z.object({ draft: z.string().min(1).describe('The whole brief') }),
  quick: true,
  execute: () => ({ status: 'success', result: 'The reviewer has it.' }),
});
