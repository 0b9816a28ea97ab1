import { defineTool } from '@standardagents/builder';
import { z } from 'zod';

export default defineTool({
  description: 'Reminds of something.',
  args: z.object({ about: z.string() }),
  variables: [{ name: 'LANGUAGE', type: 'text', required: true }],
  uses: ['look_up', 'subagent_create'],
  execute: async (state, { about }) => {
    const language = await state.env('LANGUAGE');
    await state.scheduleEffect('remind', { about }, 1);
    return { status: 'success', result: `A reminder waits (${language}).` };
  },
});
