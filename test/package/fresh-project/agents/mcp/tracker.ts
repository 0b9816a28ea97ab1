import { defineMcpServer } from 'everthread';

export default defineMcpServer({
  url: 'https://mcp.example.com/mcp',
  headers: { authorization: 'Bearer {{TRACKER_TOKEN}}' },
  variables: [{ name: 'TRACKER_TOKEN', required: true }],
});
