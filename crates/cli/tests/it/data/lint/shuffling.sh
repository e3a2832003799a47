# A server whose list has another order the second time. The requests are 1, 2 and 3.
a='{"name":"a","description":"A.","inputSchema":{"type":"object","properties":{}}}'
b='{"name":"b","description":"B.","inputSchema":{"type":"object","properties":{}}}'
while read -r line; do case "$line" in
*'"id":1'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
*'"id":2'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":['"$a,$b"']}}' ;;
*'"id":3'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":['"$b,$a"']}}' ;;
esac; done
