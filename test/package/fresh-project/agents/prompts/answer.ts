import { definePrompt } from 'everthread';
import { z } from 'zod';

const tools = ['wait', 'report', { name: 'find_order', options: { limit: 3 } }] as const;

export default definePrompt({
  name: 'answer',
  toolDescription: 'Answers a customer.',
  prompt: [{ type: 'text', content: 'You answer {{customer}}.' }],
  model: 'main',
  includeChat: true,
  requiredSchema: z.object({ customer: z.string() }),
  tools,
});
