# A server that answers every line with the same one.
while read -r line; do
    echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":null}]}}'
done
