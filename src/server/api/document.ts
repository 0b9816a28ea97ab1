/** The OpenAPI 3.1 document of the API. */
import type { ApiApp } from './app.ts';

/** `address`: that of the server, without a slash at its end. */
export function openApiDocument(app: ApiApp, address: string): Readonly<Record<string, unknown>> {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Everthread',
      version: '1',
      description: 'Durable agent threads. Errors are problem documents (RFC 9457) with a code.',
    },
    servers: [{ url: address }],
  });
  const bearer = {
    type: 'http',
    scheme: 'bearer',
    description: 'A token; not needed if the server has no tokens.',
  };
  return {
    ...document,
    info: { ...document.info, license: { name: 'MIT', identifier: 'MIT' } },
    components: { ...document.components, securitySchemes: { bearer } },
  } as unknown as Readonly<Record<string, unknown>>;
}
