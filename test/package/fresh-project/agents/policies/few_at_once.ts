import { definePolicy, type PolicyVerdict } from 'everthread';

export default definePolicy({
  evaluate: ({ artifacts = [] }): PolicyVerdict => (artifacts.length > 10 ? 'require_approval' : undefined),
});
