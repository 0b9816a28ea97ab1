import { defineA2aAgent } from 'everthread';

export default defineA2aAgent({
  description: 'Researches a question.',
  url: 'https://agents.example.com/a2a/researcher',
  headers: { authorization: 'Bearer {{RESEARCH_TOKEN}}' },
  variables: [{ name: 'RESEARCH_TOKEN' }],
});
