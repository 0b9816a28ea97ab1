import { definePrompt } from '@standardagents/spec';
import { z } from 'zod';

export default definePrompt({
  name: 'scout',
  toolDescription: 'Finds out about a place.',
  prompt: 'You are a scout.',
  model: 'house',
  includeChat: true,
  includePastTools: true,
  requiredSchema: z.object({ wish: z.string(), details: z.unknown().optional() }),
  tools: ['look_up', 'report_findings'],
});
