import { defineModel } from '@standardagents/spec';
import { house } from '../providers/house.ts';

export default defineModel({
  name: 'house',
  provider: house,
  model: 'house-1',
  inputPrice: 1,
  outputPrice: 2,
  providerOptions: { temper: 'calm' },
});
