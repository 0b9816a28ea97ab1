import { definePrompt } from '@standardagents/spec';

export default definePrompt({
  name: 'desk',
  toolDescription: 'Plans a trip.',
  prompt: [
    { type: 'text', content: 'You are the desk of {{company}}. ' },
    { type: 'include', prompt: 'manners' },
    { type: 'env', property: 'REGION' },
  ],
  model: 'house',
  includeChat: true,
  includePastTools: true,
  tools: [
    { name: 'scout', initUserMessageProperty: 'wish', blocking: true },
    { name: 'remind_later', options: { tone: 'kind' }, env: { LANGUAGE: 'en' } },
    'provider:weather',
  ],
  variables: [{ name: 'REGION', type: 'text', description: 'Where trips go.' }],
  env: { REGION: 'North.' },
  reasoning: { effort: 'low', include: true },
});
