/**
 * The entry point `everthread/tangle/models`: chooses the model of a chat, with the names of Tangle's agent-runtime
 * (docs/tangle.md). Nothing here, and nothing that it imports, needs Node or its environment: it runs in Workers and
 * browsers.
 */
export {
  type ChatModel,
  type CheckedModel,
  cleanModelId,
  type ModelCandidate,
  resolveChatModel,
  type ValidateModelOptions,
  validateChatModelId,
  withConfiguredModels,
} from './catalogue/chat-model.ts';
export {
  type FetchModels,
  type GetModelsOptions,
  getModels,
  type RouterEnv,
  type RouterModel,
  resolveRouterBaseUrl,
} from './catalogue/router-models.ts';
export { BackendTransportError, type TransportFailure, ValidationError } from './failure.ts';
