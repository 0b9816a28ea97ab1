import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'answer',
  toolDescription: 'Answers customers.',
  prompt: 'You help with orders.',
  model: 'main',
  tools: ['find_order', 'refund'],
  includeChat: true,
  includePastTools: true,
});
